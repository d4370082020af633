import { expect, it, vi } from 'vitest';
import { systemClock } from './clock.js';

it('tells the time in milliseconds', () => {
  vi.useFakeTimers({ now: 1_700_000_000_123 });
  expect(systemClock.now()).toBe(1_700_000_000_123);
  vi.useRealTimers();
});

it('measures what has passed apart from the date, which may be set back', () => {
  vi.useFakeTimers({ now: 1_700_000_000_000 });
  const before = systemClock.elapsed();
  vi.setSystemTime(1_700_000_000_000 - 3_600_000);
  vi.advanceTimersByTime(20);
  expect(systemClock.elapsed() - before).toBe(20);
  vi.useRealTimers();
});

it('sleeps and wakes', async () => {
  await expect(systemClock.sleep(1)).resolves.toBeUndefined();
});

it('wakes with the reason of the signal, also of one that was aborted before', async () => {
  const controller = new AbortController();
  const sleeping = systemClock.sleep(3_600_000, controller.signal);
  const reason = new Error('drained');
  controller.abort(reason);
  await expect(sleeping).rejects.toBe(reason);
  await expect(systemClock.sleep(3_600_000, controller.signal)).rejects.toBe(reason);
});
