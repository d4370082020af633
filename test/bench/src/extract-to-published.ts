import { loadavg } from 'node:os';
import type { Scope } from '@packhouse/local';
import { type ReplayProcess, startReplay, withScope } from '@packhouse/rig';
import { compareCpu, compareDumps, getCpu, type SideRuns } from './compare-runs.js';
import { DUMP_CHECKS, runEvmDump } from './evm-dump.js';
import { type Floor, measureFloor } from './floor.js';
import { type LocalRun, runLocal } from './local-run.js';
import type { BenchOptions } from './options.js';
import { watchOthers } from './processes.js';
import { profileExtract } from './profile-extract.js';
import type { BenchOutcome } from './result.js';
import { type Sample, samples } from './sample.js';

const SHARE_OF_FLOOR = 0.6;
/** Of an ingester. */
const MEMORY_LIMIT_MB = 512;

/** extract → published, all five kinds, all proofs, Postgres and store included, against the floor and other programs. */
export async function benchExtractToPublished(options: BenchOptions): Promise<BenchOutcome[]> {
  const outcomes: BenchOutcome[] = [];
  for (const sample of samples()) {
    const node = (scope: Scope) =>
      startReplay(scope, [...sample.replayArgs, '--extend', String(options.blocks)]);
    outcomes.push(
      ...(await withScope(async (scope) =>
        options.profile
          ? profileExtract(await node(scope), sample, options)
          : benchSample(await node(scope), sample, options),
      )),
    );
  }
  return outcomes;
}

async function benchSample(
  node: ReplayProcess,
  sample: Sample,
  options: BenchOptions,
): Promise<BenchOutcome[]> {
  const { blocks, say } = options;
  const floorBefore = await measureFloor(sample.blocks);
  const others = watchOthers();
  const runs = await runSides(node, sample, options);
  const used = others.end();
  const floor = meanFloor(floorBefore, await measureFloor(sample.blocks));
  const bySpeed = [...runs.after].sort((a, b) => a.seconds - b.seconds);
  const run = bySpeed[bySpeed.length >> 1] as LocalRun;
  say(`  ${sample.name}: ${run.seconds.toFixed(1)} s for ${blocks} blocks`);
  return [
    ...describe({ sample, blocks, run, floor, others: used }),
    ...compareCpu(sample.name, blocks, runs),
    ...withoutDump(sample, options),
    ...compareDumps(sample.name, blocks, runs),
    ...memoryOutcome(`memory of the ingester, ${sample.name}`, run),
  ];
}

/** Why a sample that evm-dump could be measured on was not given to it. */
function withoutDump({ from }: Sample, { evmDump }: BenchOptions): BenchOutcome[] {
  const name = 'the same against evm-dump';
  if (from === 'clone') return [{ name, skipped: 'needs RECORDINGS' }];
  if (from === 'mainnet' && evmDump === undefined)
    return [{ name, skipped: 'name its program with --evm-dump' }];
  return [];
}

/** Runs each side that was asked for, in turns: a machine that becomes slower is so for all of them. */
async function runSides(node: ReplayProcess, sample: Sample, options: BenchOptions): Promise<SideRuns> {
  const { blocks, before, evmDump, say } = options;
  const args = ['--rpc', node.url, '--from', String(node.first), '--to', String(node.last)];
  const runs: SideRuns = { before: [], after: [], dumps: { none: [], roots: [], all: [] }, loads: [] };
  const program = sample.from === 'mainnet' ? evmDump : undefined;
  const rounds = before === undefined && program === undefined ? 1 : options.rounds;
  for (let round = 1; round <= rounds; round++) {
    runs.loads.push(loadavg()[0] as number);
    if (rounds > 1) say(`  ${sample.name}, round ${round} of ${rounds}`);
    if (before !== undefined) {
      runs.before.push(await withScope((scope) => runLocal(scope, args, { root: before })));
    }
    runs.after.push(await withScope((scope) => runLocal(scope, args)));
    if (program === undefined) continue;
    for (const checks of DUMP_CHECKS) {
      const limitMs = 60_000 + 3_000 * blocks;
      runs.dumps[checks].push(
        await withScope((scope) => runEvmDump(scope, { program, node, checks, limitMs })),
      );
    }
  }
  return runs;
}

function describe(parts: {
  sample: Sample;
  blocks: number;
  run: LocalRun;
  floor: Floor;
  others: ReturnType<ReturnType<typeof watchOthers>['end']>;
}): BenchOutcome[] {
  const { sample, blocks, run, floor, others } = parts;
  const rate = blocks / run.seconds;
  const steady = blocks / run.steadySeconds;
  const yardstick = { name: 'floor', value: floor.blocksPerSecond, unit: 'blocks/s' };
  const target = `at least ${SHARE_OF_FLOOR * 100} % of the floor`;
  const cpu = Object.entries(getCpu(run, blocks)).map(([name, ms]) => `${name} ${ms.toFixed(1)}`);
  return [
    {
      name: `extract to published, ${sample.name}`,
      value: rate,
      unit: 'blocks/s',
      yardstick,
      target,
      met: rate >= SHARE_OF_FLOOR * floor.blocksPerSecond,
      note: [
        `${blocks} blocks from the moment the processes were ready to the last index row`,
        `floor: ${describeFloor(floor)}`,
        ...(cpu.length === 0 ? [] : [`spent: ${cpu.join(', ')} ms of CPU a block`]),
        ...others.words,
      ].join('; '),
      data: { seconds: run.seconds, bundleBytes: run.bytes, floor, used: run.used, otherCores: others.cores },
    },
    {
      name: 'the same from the first staged block on',
      value: steady,
      unit: 'blocks/s',
      yardstick,
      note: `start-up took ${(run.seconds - run.steadySeconds).toFixed(1)} s`,
      data: { seconds: run.steadySeconds },
    },
  ];
}

/** The ingester's peak against its budget. */
export function memoryOutcome(name: string, { used }: LocalRun): BenchOutcome[] {
  const peakBytes = used.ingester?.peakBytes;
  if (peakBytes === undefined) return [{ name, skipped: 'no /proc on this system' }];
  const value = peakBytes / 1e6;
  return [
    {
      name,
      value,
      unit: 'MB peak RSS',
      target: `under ${MEMORY_LIMIT_MB} MB`,
      met: value < MEMORY_LIMIT_MB,
    },
  ];
}

function describeFloor({ parseMs, stringifyMs, deflateMs, proveMs }: Floor): string {
  const parts = { parse: parseMs, stringify: stringifyMs, deflate: deflateMs, proofs: proveMs };
  const named = Object.entries(parts).map(([name, ms]) => `${name} ${ms.toFixed(1)}`);
  return `${named.join(', ')} ms of CPU a block`;
}

/** A machine's speed may change during a measurement, so the floor is measured before and after. */
function meanFloor(a: Floor, b: Floor): Floor {
  const mean = (name: keyof Floor): number => (a[name] + b[name]) / 2;
  return {
    parseMs: mean('parseMs'),
    stringifyMs: mean('stringifyMs'),
    deflateMs: mean('deflateMs'),
    proveMs: mean('proveMs'),
    blocksPerSecond: 2 / (1 / a.blocksPerSecond + 1 / b.blocksPerSecond),
  };
}
