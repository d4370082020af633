import { expect, it, vi } from 'vitest';
import { watchQueue } from './watch-queue.js';

/** A queue whose calls do what the test says, and a clock that it sets. */
function makeWatched() {
  let now = 0;
  const sleeps = new Set<{ until: number; wake: () => void }>();
  const pendingIds = vi.fn<() => Promise<Set<string>>>();
  const lost = vi.fn();
  const clock = {
    elapsed: () => now,
    sleep: (ms: number, signal?: { addEventListener(type: 'abort', listener: () => void): void }) =>
      new Promise<void>((resolve, reject) => {
        const sleeping = { until: now + ms, wake: resolve };
        sleeps.add(sleeping);
        signal?.addEventListener('abort', () => {
          sleeps.delete(sleeping);
          reject(new Error('woken'));
        });
      }),
  };
  const queues = watchQueue(
    { pendingIds, add: () => Promise.resolve(), remove: () => Promise.resolve() },
    clock,
    lost,
  );
  const pass = async (ms: number): Promise<void> => {
    now += ms;
    for (const sleeping of sleeps) if (sleeping.until <= now) sleeping.wake();
    await new Promise(setImmediate);
  };
  return { queues, pendingIds, lost, pass };
}

it('a call that hangs for 15 s loses the queue', async () => {
  const { queues, pendingIds, lost, pass } = makeWatched();
  pendingIds.mockReturnValue(new Promise(() => undefined));
  void queues.pendingIds('ingest');
  await pass(14_000);
  expect(lost).not.toHaveBeenCalled();
  await pass(1_000);
  expect(lost).toHaveBeenCalledOnce();
});

it('calls that fail lose it when a later one hangs, and one that is answered begins anew', async () => {
  const { queues, pendingIds, lost, pass } = makeWatched();
  pendingIds.mockRejectedValueOnce(new Error('away'));
  await expect(queues.pendingIds('ingest')).rejects.toThrow('away');
  await pass(14_000);
  await queues.add('ingest', []);
  pendingIds.mockRejectedValueOnce(new Error('away'));
  await expect(queues.pendingIds('ingest')).rejects.toThrow('away');
  await pass(20_000);
  expect(lost).not.toHaveBeenCalled();
  pendingIds.mockReturnValue(new Promise(() => undefined));
  void queues.pendingIds('ingest');
  await pass(1_000);
  expect(lost).toHaveBeenCalledOnce();
});
