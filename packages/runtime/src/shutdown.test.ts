import { afterEach, expect, it, vi } from 'vitest';
import { createLogger } from './observe/logger.js';
import { createShutdown } from './shutdown.js';

const lines: string[] = [];
const logger = createLogger({ name: 'test', destination: { write: (line) => lines.push(line) } });
afterEach(() => {
  vi.useRealTimers();
  lines.length = 0;
});

it('closes last in, first out, one after the other', async () => {
  const shutdown = createShutdown({ logger });
  const order: string[] = [];
  for (const name of ['database', 'queue', 'server']) {
    shutdown.add(name, async () => {
      order.push(`${name} closing`);
      await Promise.resolve();
      order.push(`${name} closed`);
    });
  }
  expect(shutdown.signal.aborted).toBe(false);
  expect(await shutdown.run('SIGTERM')).toEqual({ clean: true });
  expect(order).toEqual([
    'server closing',
    'server closed',
    'queue closing',
    'queue closed',
    'database closing',
    'database closed',
  ]);
});

it('tells everybody at once that it began, and why', async () => {
  const shutdown = createShutdown({ logger });
  let abortedBefore = false;
  shutdown.add('part', () => {
    abortedBefore = shutdown.signal.aborted;
  });
  await shutdown.run('SIGINT');
  expect(abortedBefore).toBe(true);
  expect(shutdown.signal.reason).toMatchObject({ message: 'shutting down: SIGINT' });
});

it('happens once, however often it is asked for', async () => {
  const shutdown = createShutdown({ logger });
  const close = vi.fn();
  shutdown.add('part', close);
  await Promise.all([shutdown.run('SIGINT'), shutdown.run('SIGINT')]);
  await shutdown.run('SIGTERM');
  expect(close).toHaveBeenCalledOnce();
});

it('goes on when a part cannot be closed, and says which', async () => {
  const shutdown = createShutdown({ logger });
  const close = vi.fn();
  shutdown.add('first', close);
  shutdown.add('broken', () => {
    throw new Error('stuck');
  });
  expect(await shutdown.run('SIGTERM')).toEqual({ clean: true });
  expect(close).toHaveBeenCalledOnce();
  expect(lines.join('')).toContain('"part":"broken"');
});

it('cuts off what still runs a moment before the limit, and says that it was not clean', async () => {
  vi.useFakeTimers();
  const shutdown = createShutdown({ logger, limitMs: 10_000 });
  const order: string[] = [];
  shutdown.add('lock', () => order.push('lock released'));
  shutdown.add(
    'download',
    () =>
      new Promise<void>((resolve) => {
        shutdown.cut.addEventListener('abort', () => {
          order.push('download cut');
          resolve();
        });
      }),
  );
  const outcome = shutdown.run('SIGTERM');
  await vi.advanceTimersByTimeAsync(8_400);
  expect(shutdown.signal.aborted).toBe(true);
  expect(order).toEqual([]);
  await vi.advanceTimersByTimeAsync(100);
  expect(await outcome).toEqual({ clean: false });
  expect(order).toEqual(['download cut', 'lock released']);
  expect(lines.join('')).toContain('"parts":["download"]');
});

it('gives up on a part that hangs when the limit is over, and closes those behind it all the same', async () => {
  vi.useFakeTimers();
  const shutdown = createShutdown({ logger, limitMs: 5_000 });
  const close = vi.fn();
  shutdown.add('behind', close);
  shutdown.add('endless', () => new Promise(() => undefined));
  const outcome = shutdown.run('SIGTERM');
  await vi.advanceTimersByTimeAsync(4_300);
  expect(close).toHaveBeenCalledOnce();
  await vi.advanceTimersByTimeAsync(700);
  expect(await outcome).toEqual({ clean: false });
  expect(lines.join('')).toContain('"parts":["endless"],"limitMs":5000,"msg":"not all parts closed in time"');
});

it('closes what is opened while or after it closes', async () => {
  const shutdown = createShutdown({ logger });
  const during = vi.fn();
  shutdown.add('part', () => shutdown.add('during', during));
  await shutdown.run('SIGTERM');
  expect(during).toHaveBeenCalledOnce();
  const after = vi.fn();
  shutdown.add('after', after);
  expect(after).toHaveBeenCalledOnce();
});
