import type { BlockRange } from '@packhouse/chain';
import { type Clock, type Scope, untilAborted } from '@packhouse/runtime';
import type { BatchUpstream } from '../calls/batch-upstream.js';
import type { ByteBudget, ByteLease } from '../calls/byte-budget.js';
import { chooseNode, countRoom, type FetchRequest } from '../heads/choose-node.js';
import type { Account } from '../spending/spending.js';
import type { FailedBlock, FetchedBlock } from './block-source.js';
import { fetchWithFailover } from './failover.js';

/** Memory of a block's parsed form, relative to its bytes. */
const OVERHEAD_BYTES = 2_048;
/** Assumed size of a block until one was received. */
const INITIAL_GUESS_BYTES = 65_536;

/** Dependencies of the fetch of a range. */
interface FetchBlocksOptions {
  nodes: readonly BatchUpstream[];
  clock: Clock;
  network: string;
  budget: ByteBudget;
  ahead: ReadAhead;
  account: Account;
  scope: Scope;
  /** Registers a callback for when there may be room for more requests; returns a function that unregisters it. */
  onRoom: (fill: () => void) => () => void;
}

/** Blocks that are fetched together, and their share of the budget. */
interface Group {
  lease: ByteLease;
  left: number;
  bufferedBytes: number;
  done: boolean;
}

/**
 * Fetches a range ahead of its reader and yields it in order.
 *
 *   fill() ── starts groups while ── upstreams have room ── and the budget and the reader have room
 *     ▲                                                        │
 *     ├── a group ended, a limit grew                          ▼
 *     └── the reader took a block ◀── slots, by number ◀── fetchWithFailover
 *
 * Throws only the scope's reason when aborted.
 */
export async function* fetchRange(
  range: BlockRange,
  request: FetchRequest,
  options: FetchBlocksOptions,
): AsyncGenerator<FetchedBlock | FailedBlock, void, undefined> {
  const { ahead, budget, clock, nodes, scope } = options;
  const { signal } = scope;
  const ready = new Map<number, { block: FetchedBlock | FailedBlock; group: Group }>();
  let next = range.firstBlock;
  let taken = range.firstBlock;
  let active = 0;
  let guess = INITIAL_GUESS_BYTES;
  let ended = false;
  let wakeReader: () => void = () => undefined;

  const settle = (group: Group, block: FetchedBlock | FailedBlock): void => {
    const bytes = 'error' in block ? 0 : block.bytes;
    // Growth counts at once: the budget keeps the process from running out of memory.
    guess = bytes > guess ? bytes : guess + (bytes - guess) * 0.1;
    group.bufferedBytes += bytes + OVERHEAD_BYTES;
    ready.set(block.number, { block, group });
    if (block.number === taken) wakeReader();
  };

  const start = (numbers: number[], lease: ByteLease): void => {
    const group: Group = { lease, left: numbers.length, bufferedBytes: 0, done: false };
    active += 1;
    const work = fetchWithFailover(numbers, {
      nodes,
      clock,
      network: options.network,
      request,
      account: options.account,
      scope,
      lease,
      settle: (block) => settle(group, block),
    });
    work
      .catch((error: unknown) => {
        // Only an abort gets here, and the reader learns of it by the signal. Anything else is a bug in this program,
        // reported for each block that it affects.
        if (signal.aborted) return;
        const fault = error instanceof Error ? error : new Error(String(error));
        for (const number of numbers) {
          if (number >= taken && !ready.has(number)) settle(group, { number, error: fault, upstreams: [] });
        }
      })
      .finally(() => {
        active -= 1;
        group.done = true;
        lease.settle(ended || group.left === 0 ? 0 : group.bufferedBytes);
        fill();
      });
  };

  const fill = (): void => {
    while (!ended && !signal.aborted && next <= range.lastBlock) {
      if (next - taken >= ahead.blocks) return;
      const { use = 'urgent' } = options.account;
      const need = { block: next, request, avoid: NOBODY, exhausted: NOBODY, use };
      const node = chooseNode(nodes, need);
      // A group sends two requests one after the other (three if receipts and traces go side by side), so as many
      // groups as requests may be in flight keep the upstream busy.
      if (active >= countRoom(nodes, need)) return;
      const size = node === null ? 1 : node.sizes.size('eth_getBlockByNumber');
      const last = Math.min(range.lastBlock, next + size - 1);
      const numbers = Array.from({ length: last - next + 1 }, (_, index) => next + index);
      const first = next;
      const lease = budget.reserve(
        Math.ceil(numbers.length * (guess + OVERHEAD_BYTES)),
        () => first <= taken,
      );
      if (lease === null) return;
      next = last + 1;
      start(numbers, lease);
    }
  };

  const forget = options.onRoom(fill);
  try {
    signal.throwIfAborted();
    fill();
    while (taken <= range.lastBlock) {
      const found = ready.get(taken);
      if (found === undefined) {
        if (next <= range.lastBlock && next - taken >= ahead.blocks) {
          ahead.starved();
          fill();
        }
        await untilAborted(
          new Promise<void>((resolve) => {
            wakeReader = resolve;
          }),
          signal,
        );
        continue;
      }
      signal.throwIfAborted();
      ready.delete(taken);
      taken += 1;
      ahead.taken(ready.size);
      const { block, group } = found;
      group.left -= 1;
      group.bufferedBytes -= ('error' in block ? 0 : block.bytes) + OVERHEAD_BYTES;
      if (group.done) group.lease.settle(group.left === 0 ? 0 : group.bufferedBytes);
      // The reader now waits for the next block: it may have become urgent.
      budget.wake();
      fill();
      yield block;
    }
  } finally {
    ended = true;
    forget();
    // A reader that stops early needs none of the requests in flight.
    if (taken <= range.lastBlock) scope.abort(new Error('The reader of the range left.'));
    for (const { block, group } of ready.values()) {
      group.lease.release();
      drop(block);
    }
    scope.close();
    ready.clear();
  }
}

const NOBODY: ReadonlySet<string> = new Set();

function drop(block: FetchedBlock | FailedBlock): void {
  if (!('error' in block)) void block.stream?.[Symbol.asyncIterator]().return?.();
}

/** How many blocks ranges fetch ahead of their readers: what was fetched and not read is asked again after a kill. */
interface ReadAhead {
  readonly blocks: number;
  /** The reader waits for a block, and as many are under way as may be. */
  starved(): void;
  /** The reader took a block, and so many wait for it. */
  taken(ready: number): void;
}

const MIN_BLOCKS = 32;
const MAX_BLOCKS = 4_096;
/** Each step costs the time of an answer. A reader that starves leaves little that a kill would have asked again. */
const GROWTH = 4;
/** If more than this part of what is ahead waits for its reader, fewer would do. */
const READY_SHARE = 0.75;

/** Starts low, grows each time a reader starves, and shrinks while most of what is ahead waits for its reader. */
export function createReadAhead(): ReadAhead {
  let blocks = MIN_BLOCKS;
  return {
    get blocks() {
      return blocks;
    },
    starved: () => {
      blocks = Math.min(MAX_BLOCKS, blocks * GROWTH);
    },
    taken: (ready) => {
      if (ready > blocks * READY_SHARE) blocks = Math.max(MIN_BLOCKS, blocks - 1);
    },
  };
}
