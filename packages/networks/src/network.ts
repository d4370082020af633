import type { Kind, ProofPolicy } from '@packhouse/chain';

/** One node behind a network. */
export interface Upstream {
  /** For logs and tables; unique in the network. */
  name: string;
  url: string;
  /** Address for subscriptions to new heads over WebSocket; absent: the head is polled for. */
  ws?: string;
  /** Extra headers, secrets already filled in from the environment. */
  headers: Readonly<Record<string, string>>;
  /** 1 is preferred. */
  priority: number;
  /** Fixed ceiling of requests a second (a batch of 10 counts 10); absent: only the adaptive limit. */
  requestsPerSecond?: number;
  /** Ceiling of HTTP requests in flight. */
  maxInFlight: number;
  /** Whether requests to it carry the trace that they belong to; absent: no. */
  propagateTrace?: boolean;
}

/**
 * The kind of chain: `evm`; `core`, the epoch-based core space of Conflux; `cell`, the cell-based chain
 * of CKB; `registry`, a name registry's indexer.
 */
export type Family = 'evm' | 'core' | 'cell' | 'registry';

/** How a network's JSON-RPC interface behaves. */
interface RpcPolicy {
  /** Methods beyond those of the family, passed on as they are. */
  allow: readonly string[];
  /** Methods of the family that this network does not offer. */
  deny: readonly string[];
  /** Prefix that clients use → prefix that the nodes use. */
  aliases: Readonly<Record<string, string>>;
  /** Milliseconds that a call may take, all questions to all upstreams together. */
  timeoutMs: number;
  /** The same for eth_call. */
  callTimeoutMs: number;
  /** eth_call of one key, or of one address without a key, in flight at most. */
  maxCallsInFlight: number;
  /** Highest gas of an eth_call; null: none. */
  gasCap: number | null;
  /** More gas than that is lowered to the cap, as geth does, or refused. */
  aboveGasCap: 'lower' | 'reject';
  /** Bytes of an answer at most. */
  maxAnswerBytes: number;
  /** Logs in one answer at most. */
  maxLogs: number;
  /** Core family: replaces a missing or larger `limit` of a log filter; null: nothing does. */
  logLimit: number | null;
  /** `always200`: for clients that never read the body of another status. */
  httpErrors: 'status' | 'always200';
  /** Whether it is asked without a key. */
  open: boolean;
}

/** One network of the networks file, defaults filled in. */
export interface Network {
  /** Lower-case letters, digits and dashes; the first segment of paths and object keys. */
  id: string;
  family: Family;
  /** The answer of eth_chainId; of the core family the network id in its addresses; 0 if there is none. */
  chainId: number;
  rpc: RpcPolicy;
  /** Absent: `<public url>/<id>/v1/`. Ends in `/v1/`. */
  baseUrl?: string;
  /** Absent: `<public url>/<id>/files`. No trailing slash. */
  downloadUrl?: string;
  upstreams: readonly Upstream[];
  finality: {
    /** Ask for the `finalized` tag. If it is false, or the node does not know it, `depth` counts. */
    tag: boolean;
    /** Blocks behind the head that are final. */
    depth: number;
  };
  /** How often the head is asked for, in milliseconds. */
  pollIntervalMs: number;
  proofs: ProofPolicy;
  bundles: {
    enabled: boolean;
    kinds: readonly Kind[];
    /** A bundle is cut when the next fragment would pass this many bytes of gzip. */
    maxBytes: number;
    /** A bundle is also cut at this many blocks. */
    maxBlocks: number;
  };
}

/** The name of a method at the nodes of a network, by its `rpc.aliases`: `core_getLogs` is `cfx_getLogs` to them. */
export function nodeMethod(name: string, aliases: Readonly<Record<string, string>>): string {
  for (const [ours, theirs] of Object.entries(aliases)) {
    if (name.startsWith(ours)) return theirs + name.slice(ours.length);
  }
  return name;
}
