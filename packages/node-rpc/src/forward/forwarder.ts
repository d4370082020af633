import type { CallSignal, Span } from '@packhouse/runtime';

/** One JSON-RPC call that goes through as it is. */
export interface ForwardRequest {
  /** As the nodes know it. */
  method: string;
  /** JSON text of the parameters, sent byte for byte. */
  params: string;
  /** Asking twice does no harm: only then it is tried again, tried elsewhere and hedged. */
  idempotent: boolean;
  /** All tries together. */
  timeoutMs: number;
  /** Bytes of the result at most. */
  maxBytes: number;
  /** Aborted when nobody waits for the answer any more. */
  signal: CallSignal;
  /** Highest block that the answer depends on: nodes that are not there yet are asked last. */
  block?: number;
  /** The whole result is wanted at once, however large (up to `maxBytes`): no body is streamed. */
  whole?: boolean;
  /** What it is part of; absent where nobody traces. */
  span?: Span;
}

/** JSON text of a result. */
export interface ResultBody {
  /** All of it, or its beginning. Where there are `pieces`, they are joined when this is read. */
  readonly bytes: Buffer;
  /** All of a large one, as it came. */
  readonly pieces?: readonly Buffer[];
  /** What follows, at the reader's pace; null where `bytes` is all. Throws where the node breaks off. */
  rest: AsyncIterable<Buffer> | null;
}

/** What came of a call. Errors of a node that another one would give as well are answers. */
export type ForwardAnswer =
  | { kind: 'result'; body: ResultBody; upstream: string }
  /** `error` is the node's error object, byte for byte. */
  | { kind: 'error'; error: Buffer; code: number; message: string; upstream: string }
  | {
      kind: 'failed';
      /** timeout: nobody answered in time. unavailable: nobody could be asked. nonsense: no JSON-RPC. */
      reason: 'timeout' | 'unavailable' | 'nonsense' | 'too-large';
      /** One sentence without addresses or credentials of nodes. */
      detail: string;
      retryAfterMs?: number;
    };

/** One upstream, for tables and metrics. */
interface ForwardStatus {
  name: string;
  healthy: boolean;
  head: number | null;
  latencyMs: number | null;
  inFlight: number;
}

/** The upstreams of one network as the gateway uses them. */
export interface Forwarder {
  /** Asks the best upstream, others where that helps. Rejects only when `signal` is aborted. */
  call(request: ForwardRequest): Promise<ForwardAnswer>;
  /** The highest block that an upstream was seen to have; null while none was. */
  head(): number | null;
  /** The highest block that is final; null while unknown. */
  finalized(): number | null;
  status(): ForwardStatus[];
  close(): Promise<void>;
}
