import { createScope } from '@packhouse/local';
import { type Floor, measureFloor } from './floor.js';
import { type LocalRun, runLocal } from './local-run.js';
import type { BenchOptions } from './options.js';
import { watchOthers } from './process-tree.js';
import { startReplay } from './replay.js';
import type { BenchOutcome } from './result.js';
import { type Sample, samples } from './sample.js';

const SHARE_OF_FLOOR = 0.6;
/** The figures of evm-dump on the same replayed mainnet blocks, with its root checks (measured on another day). */
const EVM_DUMP = { checked: 4.8, unchecked: 18 };
/** Of an ingester. */
const MEMORY_LIMIT_MB = 512;

/** extract → published, all five kinds, all proofs, Postgres and store included, against the floor. */
export async function benchExtractToPublished(options: BenchOptions): Promise<BenchOutcome[]> {
  const outcomes: BenchOutcome[] = [];
  for (const sample of await samples()) outcomes.push(...(await benchSample(sample, options)));
  return outcomes;
}

async function benchSample(sample: Sample, { blocks, say }: BenchOptions): Promise<BenchOutcome[]> {
  const scope = createScope();
  try {
    const before = await measureFloor(sample.blocks);
    const node = await startReplay(scope, [...sample.replayArgs, '--extend', String(blocks)]);
    const range = ['--from', String(node.first), '--to', String(node.last)];
    const others = watchOthers();
    const run = await runLocal(scope, ['--rpc', node.url, ...range]);
    const otherCores = others.end();
    const after = await measureFloor(sample.blocks);
    const floor = meanFloor(before, after);
    say(`  ${sample.name}: ${run.seconds.toFixed(1)} s for ${blocks} blocks`);
    return describe({ sample, blocks, run, floor, otherCores });
  } finally {
    await scope.close();
  }
}

function describe(parts: {
  sample: Sample;
  blocks: number;
  run: LocalRun;
  floor: Floor;
  otherCores: number | undefined;
}): BenchOutcome[] {
  const { sample, blocks, run, floor, otherCores } = parts;
  const rate = blocks / run.seconds;
  const steady = blocks / run.steadySeconds;
  const yardstick = { name: 'floor', value: floor.blocksPerSecond, unit: 'blocks/s' };
  const target = `at least ${SHARE_OF_FLOOR * 100} % of the floor`;
  const cpu = Object.entries(run.used).map(
    ([name, { cpuSeconds }]) => `${name} ${((cpuSeconds * 1000) / blocks).toFixed(1)}`,
  );
  const outcomes: BenchOutcome[] = [
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
        ...(otherCores === undefined ? [] : [`other programs took ${otherCores.toFixed(2)} cores meanwhile`]),
      ].join('; '),
      data: { seconds: run.seconds, bundleBytes: run.bytes, floor, used: run.used, otherCores },
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
  if (sample.real) {
    const dump = (value: number, checks: string) => ({
      name: `evm-dump ${checks} (from the design)`,
      value,
      unit: 'blocks/s',
    });
    outcomes.push(
      {
        name: 'the same against evm-dump',
        value: rate,
        unit: 'blocks/s',
        yardstick: dump(EVM_DUMP.checked, 'with its checks'),
        target: '4x',
        met: rate >= 4 * EVM_DUMP.checked,
        note: 'the yardstick was measured for the design on another day: evm-dump is not installed here',
      },
      {
        name: 'the same against evm-dump',
        value: rate,
        unit: 'blocks/s',
        yardstick: dump(EVM_DUMP.unchecked, 'without checks'),
        target: 'faster',
        met: rate > EVM_DUMP.unchecked,
      },
    );
  }
  outcomes.push(...memoryOutcome(`memory of the ingester, ${sample.name}`, run));
  return outcomes;
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
