import { startReplay } from '@packhouse/rig';
import { memoryOutcome } from './extract-to-published.js';
import { runLocal } from './local-run.js';
import type { BenchOptions } from './options.js';
import type { BenchOutcome } from './result.js';

const MEGABYTES = 600;

/** Memory while an upstream sends a 600 MB trace answer. */
export async function benchGiantTraces({ scope }: BenchOptions): Promise<BenchOutcome[]> {
  const node = await startReplay(scope, ['--generate', '3', '--giant', String(MEGABYTES)]);
  const range = ['--from', String(node.first), '--to', String(node.last)];
  const run = await runLocal(scope, ['--rpc', node.url, ...range], {
    env: { NODE_TIMEOUT_MS: '600000' },
  });
  const note = `the whole range was published in ${run.seconds.toFixed(1)} s, ${(run.bytes / 1e6).toFixed(1)} MB of bundles`;
  const name = `memory of the ingester, a ${MEGABYTES} MB trace answer`;
  return memoryOutcome(name, run).map((outcome) =>
    'value' in outcome ? { ...outcome, note, data: { seconds: run.seconds, used: run.used } } : outcome,
  );
}
