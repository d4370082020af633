import type { Span } from '@packhouse/runtime';
import type { Client } from '../auth/admission.js';
import type { ProblemReason } from '../http/problem-reasons.js';

/** What is remembered of a request for the log and the metrics: never the address, never the key. */
export interface Visit {
  readonly startedAt: number;
  /** Name of the route; empty where there is none. */
  route: string;
  /** A network of the networks file; empty where there is none. */
  network: string;
  /** One of the kinds; empty where there is none. */
  kind: string;
  /** Public prefix of a key that exists; empty where there is none. */
  prefix: string;
  /** Length of the body that was promised, or of what was streamed. */
  bytes: number;
  /** Why it was refused: a reason of the table of problems; empty where it was not. */
  refusal: ProblemReason | '';
  /** What was called over JSON-RPC; absent on other routes. */
  calls: CallNotes | undefined;
  /** Who asks; absent where nothing depends on it. */
  readonly client: Client | undefined;
  /** Tells a browser which origin may read the answer; absent where no browser asks. */
  allowOrigin: ((origin: string | null) => void) | undefined;
  /** Absent where requests are not traced. */
  span: Span | undefined;
}

/** What one request called over JSON-RPC. */
export interface CallNotes {
  /** Calls in it; more than one, or none, only in a batch. */
  count: number;
  /** Names out of the table of methods, each once, ten at most. */
  readonly methods: string[];
  /** Names of the nodes that answered. */
  readonly upstreams: string[];
  /** JSON-RPC codes of what failed, each once. */
  readonly codes: string[];
}

declare module 'fastify' {
  interface FastifyRequest {
    visit: Visit;
  }
}

/** Begins a visit now. */
export function beginVisit(client?: Client): Visit {
  return {
    startedAt: performance.now(),
    route: '',
    network: '',
    kind: '',
    prefix: '',
    bytes: 0,
    refusal: '',
    calls: undefined,
    client,
    allowOrigin: undefined,
    span: undefined,
  };
}

/** Notes of calls that are about to be made. */
export function beginCalls(): CallNotes {
  return { count: 0, methods: [], upstreams: [], codes: [] };
}

/** Adds a name to a short list, once: making three sets costs more than all else that a call is noted with. */
export function noteOnce(names: string[] | undefined, name: string): void {
  if (names !== undefined && !names.includes(name)) names.push(name);
}
