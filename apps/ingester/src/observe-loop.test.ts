import { createDatabase, type Database } from '@packhouse/database';
import { freshDatabase } from '@packhouse/local';
import type { Observer } from '@packhouse/report';
import { type Context, createLogger, createMetrics, systemClock } from '@packhouse/runtime';
import { afterEach, expect, inject, test } from 'vitest';
import { observeLoop } from './observe-loop.js';

const WAIT = { timeout: 120_000, interval: 5 };
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (let close = closers.pop(); close !== undefined; close = closers.pop()) await close();
});

/** A process that observes, with pauses that end at once; `tells`: whether it reports figures now. */
function observing(url: string, look: () => Promise<void> = async () => undefined) {
  const stop = new AbortController();
  const slept: number[] = [];
  const context: Context = {
    logger: createLogger({ name: 'test', level: 'silent' }),
    metrics: createMetrics(),
    clock: {
      now: () => Date.now(),
      elapsed: () => performance.now(),
      sleep: async (ms, signal) => {
        slept.push(ms);
        await systemClock.sleep(1, signal);
      },
    },
    signal: stop.signal,
  };
  const database: Database = createDatabase({ connectionString: url, context, applicationName: 'test' });
  const state = { tells: false, looks: 0 };
  const observer: Observer = {
    update: async () => {
      state.looks += 1;
      await look();
      state.tells = true;
    },
    forget: () => {
      state.tells = false;
    },
  };
  const ended = observeLoop({ context, database, observer });
  closers.push(async () => {
    stop.abort();
    await ended;
    await database.close();
  });
  return { state, slept, stop, ended };
}

async function freshUrl(): Promise<string> {
  const fresh = await freshDatabase(inject('postgresUrl'), { migrated: true });
  closers.push(() => fresh.drop());
  return fresh.url;
}

test('one of three tells, and when it ends another does, at once', async () => {
  const url = await freshUrl();
  const all = [1, 2, 3].map(() => observing(url));
  const telling = () => all.filter(({ state }) => state.tells);
  await expect.poll(() => telling().length, WAIT).toBe(1);
  const [first] = telling() as [(typeof all)[number]];
  first.stop.abort();
  await first.ended;
  expect(first.state.tells).toBe(false);
  await expect.poll(() => telling().length, WAIT).toBe(1);
  expect(telling()[0]).not.toBe(first);
});

test('what fails is tried again, and its figures are taken back meanwhile', async () => {
  const url = await freshUrl();
  let fail = true;
  const one = observing(url, async () => {
    if (fail) throw new Error('no');
  });
  await expect.poll(() => one.state.looks, WAIT).toBeGreaterThan(2);
  expect(one.state.tells).toBe(false);
  fail = false;
  await expect.poll(() => one.state.tells, WAIT).toBe(true);
});

test('looks every five seconds, and more seldom where a look takes long', async () => {
  const url = await freshUrl();
  const quick = observing(url);
  await expect.poll(() => quick.slept.includes(5_000), WAIT).toBe(true);
  const slow = observing(await freshUrl(), () => systemClock.sleep(400));
  await expect.poll(() => slow.slept.some((ms) => ms >= 399 * 20), WAIT).toBe(true);
});
