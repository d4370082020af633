import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** A process of its own that takes one job and never ends it. */
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
  const args = ['--conditions=source', '--import', 'tsx', '--input-type=module', '-e', code];
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
