import { startReplay, withScope } from '@packhouse/rig';
import { runLocal } from './local-run.js';
import type { BenchOptions } from './options.js';
import type { BenchOutcome } from './result.js';
import { EARLY_NAME, SOURCE } from './sample.js';

/** What evm-dump reaches there, capped by its fixed strides (measured for the design). */
const EVM_DUMP_BLOCKS_PER_SECOND = 24;
const LATENCY_MS = 500;
const LONGEST = 8_191;
const LAST = [1_000, LONGEST];
/** The recordings of early blocks have no traces. */
const RECORDED_KINDS = 'blocks,transactions,receipts,logs';

/** A node 500 ms away with tiny blocks, repeated if fewer are recorded. */
export async function benchSlowNode({ say }: BenchOptions): Promise<BenchOutcome[]> {
  const outcomes: BenchOutcome[] = [];
  for (const last of LAST) {
    await withScope(async (scope) => {
      const node = await startReplay(scope, [
        '--file',
        SOURCE.path('early'),
        '--extend',
        String(LONGEST + 1),
        '--latency',
        String(LATENCY_MS),
      ]);
      const run = await runLocal(scope, [
        '--rpc',
        node.url,
        '--from',
        String(node.first + 1),
        '--to',
        String(node.first + last),
        '--kinds',
        RECORDED_KINDS,
      ]);
      const value = last / run.seconds;
      say(`  ${last} ${EARLY_NAME}: ${run.seconds.toFixed(1)} s`);
      outcomes.push({
        name: `a node ${LATENCY_MS} ms away, ${last} ${EARLY_NAME}`,
        value,
        unit: 'blocks/s',
        yardstick: {
          name: 'evm-dump (from the design)',
          value: EVM_DUMP_BLOCKS_PER_SECOND,
          unit: 'blocks/s',
        },
        target: '10x',
        met: value >= 10 * EVM_DUMP_BLOCKS_PER_SECOND,
        note: `${RECORDED_KINDS}, from ready to the last index row; ${(run.seconds - run.steadySeconds).toFixed(1)} s until the first block was staged`,
        data: { seconds: run.seconds, steadySeconds: run.steadySeconds, used: run.used },
      });
    });
  }
  return outcomes;
}
