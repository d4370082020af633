import type { Database } from '@packhouse/database';
import type { Forwarder } from '@packhouse/node-rpc';
import type { Context } from '@packhouse/runtime';
import type { FilterStore } from './filter-state.js';

/** Watches pending transactions while there is a filter for them. */
export interface PendingWatch {
  /** Continues to watch for the life of a filter from now. */
  keepWatching(): void;
  /** Resolves when the current pending transactions are stored, so that a new filter does not report them as new. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

const POLL_INTERVAL_MS = 500;
const WATCH_MS = 300_000;
/** How often the lock is tried while another gateway watches. */
const LOCK_RETRY_MS = 2_000;
const TIMEOUT_MS = 10_000;
const MAX_BYTES = 16_777_216;

/**
 * Creates the watch of a network; it is idle until `keepWatching` is called. One gateway at a time watches, under a lock, and
 * numbers the transactions in the shared store. It reads the pending block, which every node has; a filter on one node
 * would end with that node.
 */
export function createPendingWatch(parts: {
  network: string;
  context: Context;
  database: Pick<Database, 'tryLock'>;
  filters: FilterStore;
  forwarder: Forwarder;
}): PendingWatch {
  const { context, database, filters, forwarder, network } = parts;
  const closing = new AbortController();
  const { signal } = closing;
  let watchUntil = 0;
  let polledAt = Number.NEGATIVE_INFINITY;
  let running: Promise<void> | undefined;

  const poll = async (): Promise<void> => {
    const answer = await forwarder.call({
      method: 'eth_getBlockByNumber',
      params: '["pending",false]',
      block: 'tip',
      idempotent: true,
      checkedRead: true,
      whole: true,
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_BYTES,
      signal,
    });
    if (answer.kind !== 'result') return;
    polledAt = context.clock.elapsed();
    const block = JSON.parse(answer.body.bytes.toString('utf8')) as { transactions?: unknown } | null;
    const hashes = Array.isArray(block?.transactions) ? (block.transactions as unknown[]) : [];
    await filters.addPending(
      network,
      hashes.filter((hash): hash is string => typeof hash === 'string' && /^0x[0-9a-f]{64}$/.test(hash)),
    );
  };

  const isActive = (): boolean => !signal.aborted && context.clock.elapsed() < watchUntil;
  const pause = (ms: number): Promise<void> => context.clock.sleep(ms, signal).catch(() => undefined);

  const run = async (): Promise<void> => {
    while (isActive()) {
      try {
        const lock = await database.tryLock(`pending:${network}`);
        if (lock === null) {
          await pause(LOCK_RETRY_MS);
          continue;
        }
        try {
          while (isActive() && !lock.lost.aborted) {
            await poll();
            await pause(POLL_INTERVAL_MS);
          }
        } finally {
          await lock.release();
        }
      } catch (error) {
        if (signal.aborted) return;
        context.logger.warn({ network, err: error }, 'failed to read pending transactions; will retry');
        await pause(LOCK_RETRY_MS);
      }
    }
  };

  return {
    async sync() {
      if (context.clock.elapsed() - polledAt < LOCK_RETRY_MS) return;
      // If another gateway has the lock, it is watching.
      const lock = await database.tryLock(`pending:${network}`);
      // A node that cannot answer now may be able to later.
      await (lock === null ? undefined : poll())?.catch(() => undefined);
      await lock?.release();
    },
    keepWatching() {
      watchUntil = context.clock.elapsed() + WATCH_MS;
      running ??= run().finally(() => {
        running = undefined;
      });
    },
    async close() {
      closing.abort(new Error('the gateway closes'));
      await running;
    },
  };
}
