import path from 'node:path';
import { createScope, type Scope } from '@packhouse/local';
import { chainDataDirectory } from '@packhouse/replay-node';
import { runLocal } from './local-run.js';
import type { BenchOptions } from './options.js';
import { type ReplayProcess, startReplay, startTinyReplay } from './replay.js';
import type { BenchOutcome } from './result.js';

/** What evm-dump reaches there, capped by its fixed strides (measured for the design). */
const EVM_DUMP_BLOCKS_PER_SECOND = 24;
const LATENCY_MS = 500;
const LAST = [1_000, 8_191];

/** A node 500 ms away with tiny blocks: mainnet's first where they are there, else generated ones. */
export async function benchSlowNode({ say }: BenchOptions): Promise<BenchOutcome[]> {
  const outcomes: BenchOutcome[] = [];
  for (const last of LAST) {
    const scope = createScope();
    try {
      const { node, name, kinds } = await slowNode(scope, last);
      const run = await runLocal(scope, [
        '--rpc',
        node.url,
        '--from',
        '1',
        '--to',
        String(last),
        ...(kinds === undefined ? [] : ['--kinds', kinds]),
      ]);
      const value = last / run.seconds;
      say(`  blocks 1 to ${last}: ${run.seconds.toFixed(1)} s`);
      outcomes.push({
        name: `a node ${LATENCY_MS} ms away, ${name} 1-${last}`,
        value,
        unit: 'blocks/s',
        yardstick: {
          name: 'evm-dump (from the design)',
          value: EVM_DUMP_BLOCKS_PER_SECOND,
          unit: 'blocks/s',
        },
        target: '10x',
        met: value >= 10 * EVM_DUMP_BLOCKS_PER_SECOND,
        note: `${kinds ?? 'all five kinds'}, from ready to the last index row; ${(run.seconds - run.steadySeconds).toFixed(1)} s until the first block was staged`,
        data: { seconds: run.seconds, steadySeconds: run.steadySeconds, used: run.used },
      });
    } finally {
      await scope.close();
    }
  }
  return outcomes;
}

/** The recording of mainnet's first blocks has no traces. */
const RECORDED_KINDS = 'blocks,transactions,receipts,logs';

async function slowNode(
  scope: Scope,
  last: number,
): Promise<{ node: ReplayProcess; name: string; kinds?: string }> {
  const folder = chainDataDirectory();
  if (folder === null) {
    return { node: await startTinyReplay(scope, last, LATENCY_MS), name: 'generated blocks' };
  }
  const file = path.join(folder, 'mainnet-0-8191.jsonl.gz');
  const node = await startReplay(scope, ['--file', file, '--latency', String(LATENCY_MS)]);
  return { node, name: 'mainnet', kinds: RECORDED_KINDS };
}
