import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type Context, createLogger, createMetrics, systemClock } from '@packhouse/runtime';
import { vi } from 'vitest';
import type { JobRequest } from '../queues.js';

/** Lines of the log since this was last emptied. */
export const lines: string[] = [];
/** The context of all queue tests. */
export const context: Context = {
  logger: createLogger({ name: 'test', level: 'debug', destination: { write: (line) => lines.push(line) } }),
  metrics: createMetrics(),
  clock: systemClock,
  signal: new AbortController().signal,
};
/** A job of ten blocks from `start` on. */
export const ingest = (id: string, firstBlock = 0, priority = 1, network = 'demo'): JobRequest<'ingest'> => ({
  id,
  payload: { network, firstBlock, lastBlock: firstBlock + 9, kinds: ['blocks', 'logs'] },
  priority,
});
/** Waits until a check passes. */
export const until = (check: () => unknown) => vi.waitFor(check, { timeout: 120_000, interval: 10 });

/** A promise that the test resolves: for a job that runs until then. */
export function gate(): { opened: Promise<void>; open: () => void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** A separate process that takes one job and never ends it. */
export async function killableWorker(
  options: Record<string, unknown>,
): Promise<{ said: () => string; kill: () => void }> {
  const code = `
    import { createQueues } from ${JSON.stringify(new URL('../create-queues.ts', import.meta.url).href)};
    import { createLogger, createMetrics, systemClock } from '@packhouse/runtime';
    const context = { logger: createLogger({ name: 'child' }), metrics: createMetrics(), clock: systemClock,
      signal: new AbortController().signal };
    const queues = await createQueues({ ...${JSON.stringify(options)}, context });
    await queues.work('ingest', (job) => new Promise(() => console.log('took ' + job.id)), { concurrency: 1 });
  `;
  const args = ['--import', 'tsx', '--input-type=module', '-e', code];
  const child = spawn(process.execPath, args, {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  return { said: () => said, kill: () => void child.kill('SIGKILL') };
}
