import { type Clock, createLogger, PackhouseError } from '@packhouse/runtime';
import { expect, it } from 'vitest';
import { waitForSchema } from './check-schema.js';

const older = new PackhouseError({
  code: 'DATABASE_NOT_MIGRATED',
  message: 'Older.',
  data: { missing: ['x'] },
});
const newer = new PackhouseError({ code: 'DATABASE_NEWER', message: 'Newer.' });

/** A context whose clock advances in `sleep`, and a database that returns these results in turn. */
function world(...answers: (Error | null)[]) {
  let now = 0;
  let asked = 0;
  const lines: string[] = [];
  const stop = new AbortController();
  const clock: Clock = {
    now: () => now,
    elapsed: () => now,
    sleep: async (ms, signal) => {
      if (signal?.aborted === true) throw signal.reason;
      now += ms;
    },
  };
  const logger = createLogger({ name: 'test', destination: { write: (line) => lines.push(line) } });
  return {
    stop,
    lines,
    context: { clock, logger, signal: stop.signal },
    database: {
      checkSchema: async () => {
        const answer = answers[Math.min(asked, answers.length - 1)];
        asked += 1;
        if (answer !== null && answer !== undefined) throw answer;
      },
    },
    asked: () => asked,
  };
}

it('waits for a migration that is about to come, and says so once', async () => {
  const { database, context, asked, lines } = world(older, older, older, null);
  await waitForSchema(database, context);
  expect(asked()).toBe(4);
  expect(lines.filter((line) => line.includes('waiting for `packhouse migrate`'))).toHaveLength(1);
});

it('does not wait for ever', async () => {
  const { database, context, asked } = world(older);
  await expect(waitForSchema(database, context, 5_000)).rejects.toBe(older);
  expect(asked()).toBe(6);
});

it('does not wait at all where waiting cannot help', async () => {
  const { database, context, asked } = world(newer);
  await expect(waitForSchema(database, context)).rejects.toBe(newer);
  expect(asked()).toBe(1);
});

it('stops waiting when the process is told to end', async () => {
  const { database, context, stop } = world(older);
  const stopped = new Error('shutting down');
  stop.abort(stopped);
  await expect(waitForSchema(database, context)).rejects.toBe(stopped);
});
