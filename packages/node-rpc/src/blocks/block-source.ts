import type { BlockRange, RawBlock } from '@packhouse/chain';
import type { FetchRequest } from '../heads/choose-node.js';
import type { BlockAnchor, BlockHeader } from '../heads/poll-head.js';
import type { ChainHead } from '../heads/pool-head.js';
import type { Account } from '../spending/spending.js';

/**
 * A block as one upstream sent it; values are parsed JSON, unchecked. Where an answer was not parsed yet, reading its
 * value parses it, and throws NODE_NOT_JSON_RPC if it is malformed.
 */
export interface FetchedBlock {
  number: number;
  /** The upstream's name. */
  upstream: string;
  /** Client version of that upstream (web3_clientVersion), if known. */
  client?: string | null;
  readonly block: unknown;
  /** Present if requested; `[]` without a request if the block has no transactions. */
  readonly receipts?: unknown[] | undefined;
  /**
   * Present if requested, in the shape of trace_block. An answer beyond the body limit is an async iterable of its
   * elements, to be read once.
   */
  readonly traces?: unknown[] | AsyncIterable<unknown> | undefined;
  /** `traces` while they still arrive. */
  readonly stream?: AsyncIterable<unknown> | undefined;
  /**
   * Its bytes, ASCII, which may be malformed; present if no part had to be parsed when it arrived. Receipts and traces are
   * `[]` without a request if the block has none.
   */
  readonly raw?: RawBlock | undefined;
  /** Bytes received over the wire for it. */
  bytes: number;
  /** The calls that were answered for it, by method. */
  answered: MethodAnswers[];
}

/** Calls of one method and the bytes of their answers. */
export interface MethodAnswers {
  method: string;
  calls: number;
  bytes: number;
}

/** A block that no upstream returned, after bounded tries on each. */
export interface FailedBlock {
  number: number;
  /** What says most about the block; the last of several that say as much. */
  error: Error;
  /** The upstreams that were asked. */
  upstreams: string[];
  /** The fault of each of them that says most, if known. */
  faults?: readonly { upstream: string; error: Error }[];
}

export interface UpstreamStatus {
  name: string;
  /** Client version (web3_clientVersion), one line of at most 128 characters; null if unknown. */
  client: string | null;
  healthy: boolean;
  /** Whether it announces new heads over WebSocket; null if it has no WebSocket address. */
  subscribed: boolean | null;
  head: number | null;
  latencyMs: number | null;
  errors: number;
  requests: number;
  /** Its capabilities, once probed. */
  capabilities: { receipts: string | null; traces: string | null; finalizedTag: boolean | null };
}

/** Blocks of one network, from any upstream that has them. */
export interface BlockSource {
  /** The same source, whose requests for blocks and headers are counted for this account. */
  as(account: Account): BlockSource;
  /**
   * Asks every upstream for its chain id and capabilities. Throws NODE_WRONG_CHAIN, NODE_UNREACHABLE (all of them)
   * or NODE_METHOD_MISSING (no upstream offers what `request` needs).
   */
  probe(request: FetchRequest, signal?: AbortSignal): Promise<void>;
  /**
   * The head of the pool: the highest head among the upstreams that have the anchor, unless more of them follow
   * another branch. Throws REORG_BELOW_FINALITY (data: {number, expected, got, upstream}) if no upstream that answers
   * has the anchor and one has another block in its place; a pool that is only behind the anchor is lagging.
   * `asksFinalized: false` takes what an upstream told as final before, if it told something.
   */
  head(
    signal?: AbortSignal,
    anchor?: BlockAnchor | null,
    options?: { asksFinalized?: boolean },
  ): Promise<ChainHead>;
  /**
   * The headers with these numbers, all from one upstream (`from` if it can be asked); null for a block that it does
   * not have. Throws the last error.
   */
  headers(
    numbers: readonly number[],
    options?: { from?: string; signal?: AbortSignal },
  ): Promise<(BlockHeader | null)[]>;
  /**
   * Blocks of the range in order, fetched ahead with bounded concurrency and memory. A block that cannot be
   * fetched is a FailedBlock in its place; the iteration throws only when aborted.
   */
  fetchBlocks(
    range: BlockRange,
    request: FetchRequest,
    signal?: AbortSignal,
  ): AsyncIterable<FetchedBlock | FailedBlock>;
  /**
   * One block again, from upstreams other than `avoid` if there are any; `patient`: also if they rest for the time
   * being (30 s at most). Throws the last error.
   */
  fetchBlock(
    number: number,
    request: FetchRequest,
    options?: { avoid?: readonly string[]; patient?: boolean; signal?: AbortSignal },
  ): Promise<FetchedBlock>;
  /** The chain's current hash of this block number; null beyond the head. */
  blockHash(number: number, signal?: AbortSignal): Promise<string | null>;
  /**
   * Subscribes to new heads if the networks file names a WebSocket address, and calls back when one is announced.
   * Returns a function that unsubscribes; the connections close with the last listener.
   */
  onHead(listener: (number: number) => void): () => void;
  /** State of the subscriptions: whether any delivers, and the highest announced block. */
  subscription(): { delivering: boolean; announced: number | null };
  /** Reports that data of this upstream failed a proof that another one's passed: it is counted, and asked last for a while. */
  reportInvalidResponse(upstream: string): void;
  status(): UpstreamStatus[];
  /** How many calls with answers of so many bytes share one HTTP request to this upstream, once that is learned. */
  usualBatch(upstream: string, bytes: number): number;
  close(): Promise<void>;
}
