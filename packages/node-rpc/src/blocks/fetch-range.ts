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
  const { ahead, budget, nodes, scope } = options;
  const { signal } = scope;
  const buffer = createBuffer();
  let next = range.firstBlock;
  const reader: Reader = { taken: range.firstBlock, active: 0, ended: false, wake: () => undefined };

  const fill = (): void => {
    while (!reader.ended && !signal.aborted && next <= range.lastBlock) {
      if (next - reader.taken >= ahead.blocks) return;
      const { use = 'urgent' } = options.account;
      const need = { block: next, request, avoid: NOBODY, exhausted: NOBODY, use };
      const node = chooseNode(nodes, need);
      // A group sends two requests one after the other (three if receipts and traces go side by side), so as many
      // groups as requests may be in flight keep the upstream busy.
      if (reader.active >= countRoom(nodes, need)) return;
      const size = node === null ? 1 : node.sizes.size('eth_getBlockByNumber');
      const last = Math.min(range.lastBlock, next + size - 1);
      const numbers = Array.from({ length: last - next + 1 }, (_, index) => next + index);
      const first = next;
      const lease = budget.reserve(
        Math.ceil(numbers.length * buffer.usualBytes()),
        () => first <= reader.taken,
      );
      if (lease === null) return;
      next = last + 1;
      startGroup({ numbers, lease, request, buffer, reader, fill }, options);
    }
  };

  const forget = options.onRoom(fill);
  try {
    signal.throwIfAborted();
    fill();
    while (reader.taken <= range.lastBlock) {
      if (!buffer.has(reader.taken)) {
        if (next <= range.lastBlock && next - reader.taken >= ahead.blocks) {
          ahead.starved();
          fill();
        }
        await untilAborted(
          new Promise<void>((resolve) => {
            reader.wake = resolve;
          }),
          signal,
        );
        continue;
      }
      signal.throwIfAborted();
      reader.taken += 1;
      const block = buffer.take(reader.taken - 1);
      ahead.taken(buffer.size());
      // The reader now waits for the next block: it may have become urgent.
      budget.wake();
      fill();
      yield block;
    }
  } finally {
    reader.ended = true;
    forget();
    // A reader that stops early needs none of the requests in flight.
    if (reader.taken <= range.lastBlock) scope.abort(new Error('The reader of the range left.'));
    buffer.clear();
    scope.close();
  }
}

/** Where the reader of a range is, and how many groups are under way for it. */
interface Reader {
  /** The next block that it takes. */
  taken: number;
  active: number;
  ended: boolean;
  wake(): void;
}

/** Fetches a group of blocks into the buffer; `fill` is called when it has ended. */
function startGroup(
  {
    buffer,
    fill,
    lease,
    numbers,
    reader,
    request,
  }: {
    numbers: readonly number[];
    lease: ByteLease;
    request: FetchRequest;
    buffer: ReturnType<typeof createBuffer>;
    reader: Reader;
    fill(): void;
  },
  { account, clock, network, nodes, scope }: FetchBlocksOptions,
): void {
  const group: Group = { lease, left: numbers.length, bufferedBytes: 0, done: false };
  const settle = (block: FetchedBlock | FailedBlock): void => {
    buffer.add(group, block);
    if (block.number === reader.taken) reader.wake();
  };
  reader.active += 1;
  fetchWithFailover(numbers, { nodes, clock, network, request, account, scope, lease, settle })
    .catch((error: unknown) => {
      // Only an abort gets here, and the reader learns of it by the signal. Anything else is a bug in this program,
      // reported for each block that it affects.
      if (scope.signal.aborted) return;
      const fault = error instanceof Error ? error : new Error(String(error));
      for (const number of numbers) {
        if (number >= reader.taken && !buffer.has(number)) settle({ number, error: fault, upstreams: [] });
      }
    })
    .finally(() => {
      reader.active -= 1;
      group.done = true;
      lease.settle(reader.ended || group.left === 0 ? 0 : group.bufferedBytes);
      fill();
    });
}

/** Creates the memory of the blocks that wait for their reader; it says how much a block usually takes. */
function createBuffer() {
  const ready = new Map<number, { block: FetchedBlock | FailedBlock; group: Group }>();
  let guess = INITIAL_GUESS_BYTES;
  return {
    has: (number: number): boolean => ready.has(number),
    size: (): number => ready.size,
    /** Bytes that are expected of a block. */
    usualBytes: (): number => guess + OVERHEAD_BYTES,
    add(group: Group, block: FetchedBlock | FailedBlock): void {
      const bytes = getBytes(block);
      // Growth counts at once: the budget keeps the process from running out of memory.
      guess = bytes > guess ? bytes : guess + (bytes - guess) * 0.1;
      group.bufferedBytes += bytes + OVERHEAD_BYTES;
      ready.set(block.number, { block, group });
    },
    /** Removes a block that is there, and gives its share of the budget back. */
    take(number: number): FetchedBlock | FailedBlock {
      const { block, group } = ready.get(number) as { block: FetchedBlock | FailedBlock; group: Group };
      ready.delete(number);
      group.left -= 1;
      group.bufferedBytes -= getBytes(block) + OVERHEAD_BYTES;
      if (group.done) group.lease.settle(group.left === 0 ? 0 : group.bufferedBytes);
      return block;
    },
    /** Drops what nobody reads any more. */
    clear(): void {
      for (const { block, group } of ready.values()) {
        group.lease.release();
        if (!('error' in block)) void block.stream?.[Symbol.asyncIterator]().return?.();
      }
      ready.clear();
    },
  };
}

function getBytes(block: FetchedBlock | FailedBlock): number {
  return 'error' in block ? 0 : block.bytes;
}

const NOBODY: ReadonlySet<string> = new Set();

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
