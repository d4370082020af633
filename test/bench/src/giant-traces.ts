import { memoryOutcome } from './extract-to-published.js';
import { runLocal, startReplay } from './processes.js';
import type { BenchOutcome } from './result.js';

const MEGABYTES = 600;

/** Memory while a node sends a 600 MB trace answer. */
export async function benchGiantTraces(): Promise<BenchOutcome[]> {
  const node = await startReplay(['--generate', '3', '--giant', String(MEGABYTES)]);
  try {
    const run = await runLocal(['--rpc', node.url, '--from', String(node.first), '--to', String(node.last)], {
      NODE_TIMEOUT_MS: '600000',
    });
    const [memory] = memoryOutcome(
      `memory of the ingester, a ${MEGABYTES} MB trace answer`,
      run.peakBytes.ingester,
    );
    await run.remove();
    const note = `the whole range took ${run.seconds.toFixed(1)} s`;
    return memory === undefined ? [] : ['skipped' in memory ? memory : { ...memory, note }];
  } finally {
    await node.stop();
  }
}
