import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { createScope, type Program, type Scope } from '@packhouse/local';
import { readProcess, startNode } from '@packhouse/rig';
import type { Misbehaviour } from '../programs/misbehave.js';
import type { MisbehaviourReport } from '../programs/misbehaviour-report.js';
import type { Probe, ProbeReport } from '../programs/watch-victim.js';
import { type Finding, mb, ms, timed } from './finding.js';

/** A victim may wait twice as long as alone. */
const FACTOR = 2;
/** What a machine of few cores adds by itself, in milliseconds: times below these are no finding. */
const NOISE_MS = { p50Ms: 4, p99Ms: 10 } as const;
/**
 * What docs/operating.md says that a gateway may take, in bytes: 576 MiB of budgets, three times `BODY_MEMORY` (64 MiB),
 * 8 MiB for each of up to eight networks, and 100 MiB for the process.
 */
const MEMORY_BOUND = (576 + 3 * 64 + 8 * 8 + 100) * 1_048_576;

type Reports = Readonly<Record<string, ProbeReport>>;

/** What victims saw alone and beside clients that misbehave, and memory of the attacked process in bytes. */
export interface Beside {
  alone: Reports;
  attacked: Reports;
  clients: MisbehaviourReport[];
  memory: { before: number; peak: number; after: number };
}

/** Sends the probes alone for `seconds`, then as long beside the clients that misbehave. */
export async function measureBeside(parts: {
  probes: readonly Probe[];
  clients: readonly Misbehaviour[];
  seconds: number;
  attacked: Program;
  /** Shortens what is only measured alone. */
  aloneSeconds?: number;
}): Promise<Beside> {
  const { probes, clients, seconds, attacked } = parts;
  const scope = createScope();
  try {
    // Whatever is made at the first request is there.
    await watch(scope, probes, 1);
    const alone = await watch(scope, probes, parts.aloneSeconds ?? seconds);
    const before = readProcess(attacked.pid)?.bytes ?? 0;
    // From now on its highest memory is that of the time that follows.
    writeFileSync(`/proc/${attacked.pid}/clear_refs`, '5');
    const started = await Promise.all(clients.map((client) => misbehave(scope, client)));
    const seen = await watch(scope, probes, seconds);
    const peak = readProcess(attacked.pid)?.peakBytes ?? 0;
    const reports = await Promise.all(started.map((child) => endAndRead<MisbehaviourReport>(child)));
    await delay(1_000);
    const after = readProcess(attacked.pid)?.bytes ?? 0;
    return { alone, attacked: seen, clients: reports, memory: { before, peak, after } };
  } finally {
    await scope.close();
  }
}

/** Starts a client that misbehaves, and resolves when it does. It is ended with `endAndRead`. */
export async function misbehave(scope: Scope, client: Misbehaviour): Promise<Program> {
  const child = startNode(scope, 'test/attack/dist/programs/misbehave.js', [JSON.stringify(client)]);
  await once(child.child, 'message');
  return child;
}

/** Watches probes for so long. */
export async function watch(scope: Scope, probes: readonly Probe[], seconds: number): Promise<Reports> {
  const child = startNode(scope, 'test/attack/dist/programs/watch-victim.js', [JSON.stringify(probes)]);
  await once(child.child, 'message');
  await delay(seconds * 1_000);
  return endAndRead<Reports>(child);
}

/** Ends a program that reports at its end, and returns the report. */
export async function endAndRead<Report>(child: Program): Promise<Report> {
  child.child.kill('SIGTERM');
  const code = await child.exit;
  if (code !== 0) throw new Error(`a client ended with ${code}: ${child.stderr().slice(-600)}`);
  return JSON.parse(child.stdout()) as Report;
}

/** Findings about the victims: their p50 and p99, and that each is answered. */
export function victims(name: string, what: string, { alone, attacked }: Beside): Finding[] {
  return Object.keys(alone).flatMap((probe) => {
    const [before, under] = [alone[probe] as ProbeReport, attacked[probe] as ProbeReport];
    const times = (['p50Ms', 'p99Ms'] as const).map((which) => {
      const bound = Math.max(before[which] * FACTOR, NOISE_MS[which]);
      return timed(name, `${what}: ${probe} of others, ${which === 'p50Ms' ? 'p50' : 'p99'}`, {
        baseline: ms(before[which]),
        got: ms(under[which]),
        bound: `at most ${ms(bound)}`,
        held: under[which] <= bound,
      });
    });
    const share = under.sent === 0 ? 0 : under.ok / under.sent;
    return [
      ...times,
      timed(name, `${what}: ${probe} of others, answered`, {
        baseline: `${before.ok} of ${before.sent}`,
        got: `${under.ok} of ${under.sent}`,
        bound: 'at least 99 %',
        held: share >= 0.99,
      }),
    ];
  });
}

/** The finding about the memory of the attacked process. */
export function memory(name: string, what: string, { memory: { before, peak, after } }: Beside): Finding {
  return timed(name, `${what}: memory at its highest`, {
    baseline: mb(before),
    got: `${mb(peak)}, ${mb(after)} after`,
    bound: `at most ${mb(MEMORY_BOUND)}`,
    held: peak <= MEMORY_BOUND,
  });
}
