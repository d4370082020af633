import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { memoryIo } from '../testing/run.js';
import { untilNextPoll } from './watch.js';

/** A reader that is behind by one line, and lets go of it when it is told to. */
function behind() {
  let read: () => void = () => undefined;
  const stdout = new Writable({
    highWaterMark: 1,
    write(_, __, done) {
      read = done;
    },
  });
  stdout.write('published\n');
  return { stdout, read: () => read() };
}
const clock = { sleep: () => Promise.resolve() };

test('the next poll waits for a reader that is behind, so that nothing piles up for it', async () => {
  const { stdout, read } = behind();
  let looked = false;
  const waiting = untilNextPoll({ ...memoryIo().io, stdout }, clock).then(() => {
    looked = true;
  });
  await new Promise(setImmediate);
  expect(looked).toBe(false);
  read();
  await waiting;
  expect(looked).toBe(true);
});

test('the signal ends the wait', async () => {
  const stop = new AbortController();
  const { io } = memoryIo({ signal: stop.signal });
  const waiting = untilNextPoll({ ...io, stdout: behind().stdout }, clock);
  stop.abort(new Error('SIGTERM'));
  await waiting;
});
