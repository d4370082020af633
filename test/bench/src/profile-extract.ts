import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type ReplayProcess, withScope } from '@packhouse/rig';
import { flameGraph } from './flame-graph.js';
import { runLocal } from './local-run.js';
import type { BenchOptions } from './options.js';
import { type CpuProfile, type Shares, toShares } from './profile.js';
import { type BenchOutcome, figure } from './result.js';
import type { Sample } from './sample.js';

const PROGRAMS = ['ingester', 'packer'];
/** Smaller rooms are left out of the table, as a share. */
const LEAST = 0.01;
const FUNCTIONS = 40;

/**
 * Runs extract → published once, of this build or of another one, and tells where the CPU of ingester and packer went, start and end included.
 *
 * Each run gets a folder below bench-results/: the profiles, which DevTools and speedscope open, and for each thread's
 * kind the shares as text and a flame graph.
 */
export async function profileExtract(
  node: ReplayProcess,
  sample: Sample,
  { blocks, before, say }: BenchOptions,
): Promise<BenchOutcome[]> {
  const name = `profile ${new Date().toISOString().replace(/[:.]/g, '-')} ${sample.name}`;
  const folder = path.resolve('bench-results', name.replaceAll(' ', '-'));
  await mkdir(folder, { recursive: true });
  const hook = new URL('profile-hook.js', import.meta.url).href;
  const range = ['--rpc', node.url, '--from', String(node.first), '--to', String(node.last)];
  const env = {
    NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import ${hook}`,
    PACKHOUSE_PROFILE: PROGRAMS.join(','),
    PACKHOUSE_PROFILES: folder,
  };
  await withScope((scope) =>
    runLocal(scope, range, { env, ...(before === undefined ? {} : { root: before }) }),
  );
  say(`  ${sample.name}: profiles are in ${folder}`);
  const outcomes: BenchOutcome[] = [];
  for (const [kind, profiles] of await readProfiles(folder)) {
    const shares = toShares(profiles);
    const title = `${kind}, ${sample.name}: ${figure(shares.ms / blocks)} ms of a block`;
    const file = path.join(folder, kind.replaceAll(' ', '-'));
    await writeFile(`${file}.txt`, describe(title, shares, blocks));
    await writeFile(`${file}.svg`, flameGraph(shares.root, title));
    outcomes.push(...table(`${kind}, ${sample.name}`, shares, blocks));
  }
  return outcomes.length > 0 ? outcomes : [{ name, failed: `no profile was written to ${folder}` }];
}

/** Profiles by program and whether they are of its main thread. */
async function readProfiles(folder: string): Promise<Map<string, CpuProfile[]>> {
  const found = new Map<string, CpuProfile[]>();
  for (const file of (await readdir(folder)).sort()) {
    const [, program, thread] = /^(\w+)-\d+-(main|thread)-?\d*\.cpuprofile$/.exec(file) ?? [];
    if (program === undefined) continue;
    const kind = `${program} ${thread === 'main' ? 'main thread' : 'other threads'}`;
    const profile = JSON.parse(await readFile(path.join(folder, file), 'utf8')) as CpuProfile;
    found.set(kind, [...(found.get(kind) ?? []), profile]);
  }
  return found;
}

function table(name: string, { ms, rooms }: Shares, blocks: number): BenchOutcome[] {
  const whole = { name: 'all of it', value: ms / blocks, unit: 'ms' };
  return descending(rooms)
    .filter(([, share]) => share >= LEAST * ms)
    .map(([room, share]) => ({
      name: `${name}: ${room}`,
      value: share / blocks,
      unit: 'ms',
      yardstick: whole,
    }));
}

function describe(title: string, { ms, rooms, functions }: Shares, blocks: number): string {
  const lines = (sums: ReadonlyMap<string, number>, most: number): string[] =>
    descending(sums)
      .slice(0, most)
      .map(([name, share]) => {
        const percent = ((100 * share) / ms).toFixed(1).padStart(5);
        return `${percent} %  ${(share / blocks).toFixed(2).padStart(6)}  ${name}`;
      });
  return [
    `${title}; shares, ms of a block`,
    '\nBy room, with what it calls in Node',
    ...lines(rooms, rooms.size),
    '\nBy function, alone',
    ...lines(functions, FUNCTIONS),
    '',
  ].join('\n');
}

function descending(sums: ReadonlyMap<string, number>): [string, number][] {
  return [...sums].sort((a, b) => b[1] - a[1]);
}
