import type { ForwardAnswer, ForwardRequest } from './send/forward-request.js';
import type { ForwardUpstream } from './send/forward-upstream.js';

/** One upstream, for tables and metrics. */
type ForwardStatus = Pick<ForwardUpstream, 'name' | 'head' | 'latencyMs' | 'inFlight'> & { healthy: boolean };

/** The upstreams of one network as the gateway uses them. */
export interface Forwarder {
  /** Calls the best upstream, and others if that helps. Rejects only when `signal` is aborted. */
  call(request: ForwardRequest): Promise<ForwardAnswer>;
  /**
   * Sends a call to the best upstreams, `most` at once, for effects that every one of them should have. Returns the answer
   * of each; none rejects. `signal` does not end it, only its time.
   */
  broadcast(request: ForwardRequest, most: number): Promise<ForwardAnswer>[];
  /** The tip: the highest head of the upstreams, held while one is away for a moment; null while none is known. */
  head(): number | null;
  /**
   * As `head`, and not below what another gateway advertised until now. A call that needs the newest block asks this first: the
   * gateway's knowledge is then at least as new as the call.
   */
  newest(): number | null | Promise<number | null>;
  /**
   * The block that `safe` or `finalized` stand for: not below what any gateway advertised. Null if no upstream knows the tag.
   */
  taggedBlock(tag: 'safe' | 'finalized'): Promise<number | null>;
  /**
   * Raised whenever something that a node said turns out to be wrong, here or at another gateway: an answer that is kept
   * under an earlier one must not be used.
   */
  epoch(): number;
  /** Reads what other gateways raised the epoch to; undefined if there are none. Never rejects. */
  refreshEpoch(): Promise<void> | undefined;
  /** The highest block that so many upstreams have; null: unknown. */
  sharedHead(by: number): number | null;
  /** The highest block that is final; null while unknown. */
  finalized(): number | null;
  /** How many calls of a method that come at once share a request, whichever upstream gets them; 1: none. */
  callsTogether(method: string): number;
  status(): ForwardStatus[];
  close(): Promise<void>;
}
