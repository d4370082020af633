import path from 'node:path';
import { chainDataDirectory } from '@packhouse/replay-node';
import { runLocal, startReplay } from './processes.js';
import type { BenchOutcome } from './result.js';

/** What evm-dump reaches there, capped by its fixed strides (measured by the design). */
const EVM_DUMP_BLOCKS_PER_SECOND = 24;
const LAST = 8_191;

/** A node 500 ms away with tiny blocks. */
export async function benchSlowNode(): Promise<BenchOutcome[]> {
  const name = 'a node 500 ms away, tiny blocks';
  const folder = chainDataDirectory();
  if (folder === null) return [{ name, skipped: 'needs ../shared/chain-data' }];
  const node = await startReplay([
    '--file',
    path.join(folder, 'mainnet-0-8191.jsonl.gz'),
    '--latency',
    '500',
  ]);
  try {
    const run = await runLocal([
      '--rpc',
      node.url,
      '--from',
      '1',
      '--to',
      String(LAST),
      '--kinds',
      'blocks,transactions,receipts,logs',
    ]);
    const value = LAST / run.seconds;
    await run.remove();
    return [
      {
        name,
        value,
        unit: 'blocks/s',
        yardstick: {
          name: 'evm-dump, as the design measured it',
          value: EVM_DUMP_BLOCKS_PER_SECOND,
          unit: 'blocks/s',
        },
        target: '10x',
        met: value >= 10 * EVM_DUMP_BLOCKS_PER_SECOND,
        note: `blocks 1 to ${LAST} without traces (the recording has none), from a cold start to the last bundle`,
      },
    ];
  } finally {
    await node.stop();
  }
}
