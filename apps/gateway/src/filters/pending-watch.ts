import type { Database } from '@packhouse/database';
import type { Forwarder } from '@packhouse/node-rpc';
import type { Context } from '@packhouse/runtime';
import type { FilterStore } from './filter-state.js';

/** Watches pending transactions while there is a filter for them. */
export interface PendingWatch {
  /** Continues to watch for the life of a filter from now. */
  wanted(): void;
  /** Resolves when the current pending transactions are stored, so that a new filter does not report them as new. */
  caughtUp(): Promise<void>;
  close(): Promise<void>;
}

const LOOK_EVERY_MS = 500;
const WANTED_FOR_MS = 300_000;
/** How often the lock is tried while another gateway watches. */
const ASK_LOCK_EVERY_MS = 2_000;
const TIMEOUT_MS = 10_000;
const MAX_BYTES = 16_777_216;

/**
 * Creates the watch of a network; it is idle until `wanted` is called. One gateway at a time watches, under a lock, and
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
  let wantedUntil = 0;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let running: Promise<void> | undefined;

  const look = async (): Promise<void> => {
    const answer = await forwarder.call({
      method: 'eth_getBlockByNumber',
      params: '["pending",false]',
      block: 'tip',
      idempotent: true,
      whole: true,
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_BYTES,
      signal,
    });
    if (answer.kind !== 'result') return;
    lookedAt = context.clock.elapsed();
    const block = JSON.parse(answer.body.bytes.toString('utf8')) as { transactions?: unknown } | null;
    const hashes = Array.isArray(block?.transactions) ? (block.transactions as unknown[]) : [];
    await filters.addPending(
      network,
      hashes.filter((hash): hash is string => typeof hash === 'string' && /^0x[0-9a-f]{64}$/.test(hash)),
    );
  };

  const isWanted = (): boolean => !signal.aborted && context.clock.elapsed() < wantedUntil;
  const pause = (ms: number): Promise<void> => context.clock.sleep(ms, signal).catch(() => undefined);

  const run = async (): Promise<void> => {
    while (isWanted()) {
      try {
        const lock = await database.tryLock(`pending:${network}`);
        if (lock === null) {
          await pause(ASK_LOCK_EVERY_MS);
          continue;
        }
        try {
          while (isWanted() && !lock.lost.aborted) {
            await look();
            await pause(LOOK_EVERY_MS);
          }
        } finally {
          await lock.release();
        }
      } catch (error) {
        if (signal.aborted) return;
        context.logger.warn(
          { network, err: error },
          'waiting transactions could not be read; it is tried again',
        );
        await pause(ASK_LOCK_EVERY_MS);
      }
    }
  };

  return {
    async caughtUp() {
      if (context.clock.elapsed() - lookedAt < ASK_LOCK_EVERY_MS) return;
      // If another gateway has the lock, it is watching.
      const lock = await database.tryLock(`pending:${network}`);
      // A node that cannot answer now may be able to later.
      await (lock === null ? undefined : look())?.catch(() => undefined);
      await lock?.release();
    },
    wanted() {
      wantedUntil = context.clock.elapsed() + WANTED_FOR_MS;
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
