import { once } from 'node:events';
import { realpathSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Program, plainEnvironment, startProgram } from '@packhouse/local';
import type { Access } from '../watch/downloader.js';
import type { PlannedKill } from './plan-kills.js';
import { ageMs, getParts, type Part, stillRuns } from './processes.js';

/** A kill that was made. */
export interface MadeKill {
  role: PlannedKill['role'];
  /** Milliseconds since the epoch. */
  at: number;
  pid: number;
  /** How old the process was, in milliseconds. */
  ageMs: number;
  /** Whether it was still starting: of the supervisor, whether not everything was ready since its start. */
  starting: boolean;
  /** What it called itself: of a backend, also what it was doing. */
  command: string;
  /** Of the supervisor: how it was started again. */
  restart?: PlannedKill['restart'];
}

/** A `packhouse local` that is started again whenever it ends. */
interface KillSession {
  start(): void;
  /** Waits for a process of that kind, kills it, and sees to what comes after. */
  kill(planned: PlannedKill): Promise<MadeKill>;
  /** The newest `progress` event of the whole session. */
  published(): number;
  /** Where its gateway was, each time that it was ready. */
  accesses(): Access[];
  /** Ends it as Ctrl-C does and returns the exit code. */
  stop(): Promise<number | string>;
  /** Whatever may still run is killed. */
  destroy(): void;
  /** All that was said so far where no key may be: all of stderr, and stdout without its `ready` events. */
  said(): string;
  starts(): number;
  violations: string[];
  /** Every process that was ever seen and still runs. */
  survivors(): Part[];
}

/** A `packhouse local` of the session. */
interface Run {
  program: Program;
  /** The exit code, or the signal's name. */
  exit: Promise<number | string>;
}

/** A process younger than this is starting; the supervisor says itself when it is not. */
const YOUNG_MS = 1_500;
/** A condition that has not come by then never comes, however slow the machine is. */
const PATIENCE_MS = 180_000;
const POLL_MS = 15;

/** Makes a session; nothing is started yet. */
export function createKillSession(request: {
  directory: string;
  args: readonly string[];
  env: Record<string, string>;
}): KillSession {
  const dataFolder = path.join(realpathSync(request.directory), 'postgres', 'data');
  const violations: string[] = [];
  const seen = new Map<string, Part>();
  const runs: Run[] = [];
  /** Ends that we brought about ourselves are none of its own. */
  let expected = false;
  const current = (): Run | undefined => runs.at(-1);
  const getReady = (run: Run | undefined) => run?.program.events.find(({ event }) => event === 'ready');

  const look = (): Part[] => {
    const run = current();
    const parts = run === undefined ? [] : getParts(run.program.pid, dataFolder);
    for (const part of parts) seen.set(`${part.pid} ${part.started}`, part);
    return parts;
  };

  const survivors = (): Part[] => {
    for (const [key, part] of seen) if (!stillRuns(part)) seen.delete(key);
    return [...seen.values()];
  };

  const start = (): void => {
    expected = false;
    const env = { ...plainEnvironment(process.env), ...request.env };
    const program = startProgram('apps/cli/dist/main.js', ['local', '--json', ...request.args], { env });
    // Orphans may hold its output open.
    const exit = once(program.child, 'exit').then(([code, signal]) => code ?? signal ?? 'nothing');
    const run: Run = { program, exit };
    runs.push(run);
    void exit.then((code) => {
      if (expected || current() !== run) return;
      violations.push(`packhouse local ended by itself with ${code}: ${saidBy(program).slice(-600)}`);
      start();
    });
  };

  const until = async (what: string, condition: () => boolean): Promise<boolean> => {
    for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await delay(POLL_MS)) {
      if (condition()) return true;
    }
    violations.push(`${what}: not within ${PATIENCE_MS / 1_000} s`);
    return false;
  };

  const find = async ({ role, graceMs }: Pick<PlannedKill, 'role' | 'graceMs'>): Promise<Part> => {
    const ofRole = (): Part[] => look().filter((part) => part.role === role);
    let found = ofRole();
    if (found.length === 0) {
      if (!(await until(`a ${role} to be started again`, () => ofRole().length > 0)))
        throw new Error(violations.at(-1));
      await delay(graceMs);
      found = ofRole();
      // It ended in the meantime: the next one will do.
      if (found.length === 0) return find({ role, graceMs: 0 });
    }
    // Any of the backends; of the others there is one.
    return found[Math.floor((graceMs * found.length) / 500) % found.length] as Part;
  };

  return {
    violations,
    start,
    survivors,
    published: () =>
      Math.max(
        0,
        ...runs.map(({ program }) => {
          const progress = program.events.findLast(({ event }) => event === 'progress');
          return (progress?.published as number | undefined) ?? 0;
        }),
      ),
    accesses: () => runs.map(getReady).filter((ready) => ready !== undefined) as unknown as Access[],
    starts: () => runs.length,
    said: () => runs.map(({ program }) => saidBy(program)).join('\n'),
    async kill(planned) {
      for (;;) {
        const victim = await find(planned);
        if (planned.role === 'supervisor') expected = true;
        const age = ageMs(victim);
        if (!killed(victim)) {
          expected = false;
          continue;
        }
        const made: MadeKill = {
          role: planned.role,
          at: Date.now(),
          pid: victim.pid,
          ageMs: Math.round(age),
          starting: planned.role === 'supervisor' ? getReady(current()) === undefined : age < YOUNG_MS,
          command: victim.command.slice(0, 90),
        };
        if (planned.role !== 'supervisor') return made;
        await current()?.exit;
        look();
        if (planned.restart === 'after the orphans') {
          await until(
            'the orphans of a killed supervisor to end by themselves',
            () => survivors().length === 0,
          );
          for (const orphan of survivors()) {
            violations.push(`an orphan ${orphan.role} did not end by itself: ${orphan.command.slice(0, 90)}`);
          }
        }
        start();
        return { ...made, restart: planned.restart };
      }
    },
    async stop() {
      expected = true;
      current()?.program.child.kill('SIGINT');
      return (await current()?.exit) ?? 'nothing';
    },
    destroy() {
      expected = true;
      look();
      survivors().forEach(killed);
    },
  };
}

/** What a run said, without the events that hold a key or come every second. */
function saidBy({ stdout, stderr }: Program): string {
  const lines = stdout()
    .split('\n')
    .filter((line) => !/^\{"event":"(ready|progress)"/.test(line));
  return [stderr(), ...lines].join('\n');
}

/** False if it is gone by itself. */
function killed({ pid }: Part): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    return false;
  }
}
