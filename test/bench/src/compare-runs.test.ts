import { expect, it } from 'vitest';
import { compareCpu, compareDumps, type SideRuns } from './compare-runs.js';
import type { LocalRun } from './local-run.js';

/** A run over 100 blocks: seconds, and CPU seconds by program. */
function run(seconds: number, cpu: Record<string, number>): LocalRun {
  const used = Object.fromEntries(
    Object.entries(cpu).map(([name, cpuSeconds]) => [name, { cpuSeconds, peakBytes: 0 }]),
  );
  return { seconds, steadySeconds: seconds, bytes: 0, used };
}

const dump = (seconds: number, cpuSeconds: number | undefined, blocks = 100) => ({
  seconds,
  cpuSeconds,
  blocks,
  bytes: 1,
});

const runs: SideRuns = {
  before: [10, 8, 9].map((ingester) => run(20, { ingester, packer: 2, node: 1 })),
  after: [4, 6, 3].map((ingester) => run(10, { ingester, packer: 1, node: 1 })),
  dumps: { none: [dump(18, 8), dump(17, 9), dump(19, 8)], roots: [dump(80, undefined, 90)], all: [] },
  loads: [0.5, 1, 2],
};

it('compares medians of the CPU of a block by program, and holds all but the node to half', () => {
  const outcomes = compareCpu('blocks', 100, runs);
  expect(outcomes).toMatchObject([
    { name: 'CPU of a block, blocks, ingester', value: 40, yardstick: { value: 90 } },
    { name: 'CPU of a block, blocks, packer', value: 10, yardstick: { value: 20 } },
    { name: 'CPU of a block, blocks, node', value: 10, yardstick: { value: 10 } },
    { name: 'CPU of a block, blocks, all but the node', value: 50, yardstick: { value: 110 }, met: true },
  ]);
  expect(outcomes.at(-1)).toMatchObject({
    note: '50.0, 70.0, 40.0 (least 40.0); before 120.0, 100.0, 110.0 (least 100.0); load average 0.5, 1.0, 2.0',
  });
  const missed = compareCpu('blocks', 100, { ...runs, after: runs.before });
  expect(missed.at(-1)).toMatchObject({ met: false });
});

it('has nothing to compare with one side, and says so where nothing could be measured', () => {
  expect(compareCpu('blocks', 100, { ...runs, before: [] })).toEqual([]);
  const [outcome] = compareCpu('blocks', 100, { ...runs, before: [run(1, {})], after: [run(1, {})] });
  expect(outcome).toMatchObject({ skipped: expect.stringContaining('/proc') });
});

it('compares speed and CPU with evm-dump, over the blocks that it wrote', () => {
  const outcomes = compareDumps('blocks', 100, runs);
  expect(outcomes).toMatchObject([
    { value: 10, yardstick: { name: 'evm-dump without checks', value: 100 / 18 }, target: '1.6x', met: true },
    { value: 50, yardstick: { name: 'evm-dump without checks', value: 80 } },
    {
      value: 10,
      yardstick: { name: 'evm-dump with its root checks', value: 90 / 80 },
      target: '6x',
      met: true,
    },
  ]);
});
