import { median } from '@packhouse/rig';
import { DUMP_CHECKS, type DumpChecks, type DumpRun } from './evm-dump.js';
import type { LocalRun } from './local-run.js';
import type { BenchOutcome } from './result.js';

/** The runs of each side over the same blocks; empty where a side was not asked for. */
export interface SideRuns {
  before: LocalRun[];
  after: LocalRun[];
  dumps: Record<DumpChecks, DumpRun[]>;
  /** The load average at the beginning of each round. */
  loads: number[];
}

const HALF = 0.5;
const CHECKS: Readonly<Record<DumpChecks, { name: string; times?: number }>> = {
  none: { name: 'evm-dump without checks', times: 1.6 },
  roots: { name: 'evm-dump with its root checks', times: 6 },
  all: { name: 'evm-dump with all checks' },
};

/** CPU of each program for a block, in milliseconds; empty without /proc. */
export function getCpu(run: LocalRun, blocks: number): Record<string, number> {
  return Object.fromEntries(
    Object.entries(run.used).map(([name, { cpuSeconds }]) => [name, (cpuSeconds * 1000) / blocks]),
  );
}

/** CPU of a block by program, beside the same of another build: medians, and all values in the note. */
export function compareCpu(sample: string, blocks: number, runs: SideRuns): BenchOutcome[] {
  if (runs.before.length === 0) return [];
  const [before, after] = [runs.before, runs.after].map((side) => side.map((run) => withSum(run, blocks)));
  const names = [...new Set([...(before ?? []), ...(after ?? [])].flatMap(Object.keys))];
  if (names.length < 2) return [{ name: `CPU of a block, ${sample}`, skipped: 'no /proc on this system' }];
  return names.map((name) => {
    const [was, is] = [before, after].map((side) => (side ?? []).map((cpu) => cpu[name] ?? 0)) as [
      number[],
      number[],
    ];
    const [value, yardstick] = [median(is), median(was)];
    return {
      name: `CPU of a block, ${sample}, ${name}`,
      value,
      unit: 'ms',
      yardstick: { name: 'before', value: yardstick, unit: 'ms' },
      ...(name === SUM ? { target: 'under half', met: value < HALF * yardstick } : {}),
      note: `${describe(is)}; before ${describe(was)}${name === SUM ? `; ${loads(runs)}` : ''}`,
      data: { values: is, before: was, loads: runs.loads },
    };
  });
}

const SUM = 'all but the node';

/** The replay node stands for a machine of somebody else. */
function withSum(run: LocalRun, blocks: number): Record<string, number> {
  const cpu = getCpu(run, blocks);
  const ours = Object.entries(cpu).filter(([name]) => name !== 'node');
  return { ...cpu, [SUM]: ours.reduce((sum, [, ms]) => sum + ms, 0) };
}

/** Blocks a second and CPU beside evm-dump's, each without the start of the programs. */
export function compareDumps(sample: string, blocks: number, runs: SideRuns): BenchOutcome[] {
  const rates = runs.after.map(({ seconds }) => blocks / seconds);
  const cpu = runs.after.map((run) => withSum(run, blocks)[SUM] as number);
  return DUMP_CHECKS.filter((checks) => runs.dumps[checks].length > 0).flatMap((checks) => {
    const { name, times } = CHECKS[checks];
    const dumps = runs.dumps[checks];
    const dumpRates = dumps.map((dump) => dump.blocks / dump.seconds);
    const dumpCpu = dumps.flatMap((dump) =>
      dump.cpuSeconds === undefined ? [] : [(dump.cpuSeconds * 1000) / dump.blocks],
    );
    const [value, yardstick] = [median(rates), median(dumpRates)];
    const outcomes: BenchOutcome[] = [
      {
        name: `extract to published, ${sample}`,
        value,
        unit: 'blocks/s',
        yardstick: { name, value: yardstick, unit: 'blocks/s' },
        ...(times === undefined ? {} : { target: `${times}x`, met: value >= times * yardstick }),
        note: `against ${name}: ${describe(rates)}; evm-dump ${describe(dumpRates)}; ${loads(runs)}`,
        data: { values: rates, dumps, loads: runs.loads },
      },
    ];
    if (dumpCpu.length > 0) {
      outcomes.push({
        name: `CPU of a block, ${sample}, ${SUM}`,
        value: median(cpu),
        unit: 'ms',
        yardstick: { name, value: median(dumpCpu), unit: 'ms' },
        note: `against ${name}: ${describe(cpu)}; evm-dump ${describe(dumpCpu)}`,
      });
    }
    return outcomes;
  });
}

function describe(values: readonly number[]): string {
  return `${values.map((value) => value.toFixed(1)).join(', ')} (least ${Math.min(...values).toFixed(1)})`;
}

function loads({ loads: values }: SideRuns): string {
  return `load average ${values.map((load) => load.toFixed(1)).join(', ')}`;
}
