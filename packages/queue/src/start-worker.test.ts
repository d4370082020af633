import { PackhouseError } from '@packhouse/runtime';
import { expect, it } from 'vitest';
import type { Backend, ConsumerEvents } from './backend.js';
import { startWorker } from './start-worker.js';
import { context, lines } from './testing/fixtures.js';

it('leaves a job that a budget keeps back for later, which is no failed try', async () => {
  let run: ConsumerEvents['run'] | undefined;
  const backend = {
    consumer: async (_queue: string, _concurrency: number, events: ConsumerEvents) => {
      run = events.run;
      return { close: async () => undefined };
    },
  } as unknown as Backend;
  const keptBack = new PackhouseError({
    code: 'BUDGET_EXHAUSTED',
    message: 'Of provider p the day is used up.',
  });
  const worker = await startWorker({
    backend,
    context,
    queue: 'ingest' as const,
    concurrency: 1,
    handler: () => Promise.reject(keptBack),
  });
  const before = lines.length;
  const payload = { network: 'demo', firstBlock: 0, lastBlock: 9, kinds: ['blocks'] };
  expect(await run?.({ id: 'poor', payload, attempt: 5, attempts: 5, due: undefined })).toBe('left');
  expect(lines.slice(before).join('')).not.toContain('last try');
  await worker.close();
});
