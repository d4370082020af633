import type { BlockAnchor, BlockHeader } from '../heads/ask-head.js';
import type { FetchWish } from '../heads/choose-node.js';
import type { ChainHead } from '../heads/pool-head.js';

/** A block as one upstream sent it; values are parsed JSON, unchecked. */
export interface FetchedBlock {
  number: number;
  /** The upstream's name. */
  upstream: string;
  /** What that upstream calls itself (web3_clientVersion), where it was asked and said so. */
  client?: string | null;
  block: unknown;
  /** Present where asked for; `[]` without asking where the block has no transactions. */
  receipts?: unknown[];
  /**
   * Present where asked for, in the shape of trace_block. An answer beyond the body limit comes as an async
   * iterable of its elements, to be read once.
   */
  traces?: unknown[] | AsyncIterable<unknown>;
  /** Bytes that came over the wire for it. */
  bytes: number;
}

/** A block that no upstream could give, after bounded tries on each. */
export interface FailedBlock {
  number: number;
  error: Error;
  /** The upstreams that were asked. */
  upstreams: string[];
  /** What each of them did, where it is known: the last fault of each. */
  faults?: readonly { upstream: string; error: Error }[];
}

export interface UpstreamStatus {
  name: string;
  /** What it calls itself (web3_clientVersion), one line of at most 128 characters; null where it does not say. */
  client: string | null;
  healthy: boolean;
  /** Whether it tells of new heads over WebSocket; null where it has no address for that. */
  subscribed: boolean | null;
  head: number | null;
  latencyMs: number | null;
  errors: number;
  requests: number;
  /** What it can do, once probed. */
  capabilities: { receipts: string | null; traces: string | null; finalizedTag: boolean | null };
}

/** Blocks of one network, from whichever upstream can give them. */
export interface BlockSource {
  /**
   * Asks every upstream for its chain id and capabilities. Throws NODE_WRONG_CHAIN, NODE_UNREACHABLE (all of them)
   * or NODE_METHOD_MISSING (nobody offers what `wish` needs).
   */
  probe(wish: FetchWish, signal?: AbortSignal): Promise<void>;
  /**
   * The head of the pool: of the upstreams that have the anchor the highest head, unless more of them follow another
   * branch. Throws REORG_BELOW_FINALITY (data: {number, expected, got, upstream}) where no upstream that answers has
   * the anchor and one has another block in its place; a pool that is merely behind it is lagging.
   */
  head(signal?: AbortSignal, anchor?: BlockAnchor | null): Promise<ChainHead>;
  /**
   * The headers under these numbers, all from one upstream (`from` where it can be asked), null where it has no such
   * block. Throws the last error.
   */
  headers(
    numbers: readonly number[],
    options?: { from?: string; signal?: AbortSignal },
  ): Promise<(BlockHeader | null)[]>;
  /**
   * Blocks `start` to `end` in order, fetched ahead with bounded concurrency and memory. A block that cannot be
   * had comes as FailedBlock in its place; the iteration throws only when aborted.
   */
  fetchBlocks(
    range: { start: number; end: number },
    wish: FetchWish,
    signal?: AbortSignal,
  ): AsyncIterable<FetchedBlock | FailedBlock>;
  /** One block again, from upstreams other than `avoid` where there are any. Throws the last error. */
  fetchBlock(
    number: number,
    wish: FetchWish,
    options?: { avoid?: readonly string[]; signal?: AbortSignal },
  ): Promise<FetchedBlock>;
  /** The hash that the chain has now under this number, or null beyond the head. */
  blockHash(number: number, signal?: AbortSignal): Promise<string | null>;
  /**
   * Subscribes to new heads where the networks file names a WebSocket address, and calls back when one is told of.
   * Gives how to stop; the connections end with the last listener.
   */
  onHead(listener: (number: number) => void): () => void;
  /** What is known by subscription: whether any delivers, and the highest block told of. */
  subscription(): { delivering: boolean; announced: number | null };
  /** Reports that data of this upstream failed a proof: it is asked last for a while, and counted. */
  reportLie(upstream: string): void;
  status(): UpstreamStatus[];
  close(): Promise<void>;
}
