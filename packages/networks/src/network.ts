import type { Kind, ProofPolicy } from '@packhouse/chain';

/** One upstream of a network. */
export interface Upstream {
  /** For logs and tables; unique in the network. */
  name: string;
  url: string;
  /** Whose budget its requests are paid from; default: the host name of its url. */
  provider: string;
  /** Address for subscriptions to new heads over WebSocket; absent: the head is polled. */
  ws?: string;
  /** Extra headers, secrets already filled in from the environment. */
  headers: Readonly<Record<string, string>>;
  /** 1 is asked first. */
  priority: number;
  /** Fixed ceiling of requests a second over all processes (a batch of 10 counts 10); absent: only the adaptive limit. */
  requestsPerSecond?: number;
  /** Ceiling of HTTP requests in flight. */
  maxInFlight: number;
  /** Whether requests to it have the header of their trace; absent: no. */
  propagateTrace?: boolean;
  /** The oldest block that it has, of what is named; absent: all, until it says otherwise. */
  oldest?: {
    readonly state?: number | undefined;
    readonly receipts?: number | undefined;
    readonly logs?: number | undefined;
    readonly transactions?: number | undefined;
  };
  /** It has the state and history of all blocks; absent: no. */
  archive?: boolean;
}

/**
 * The kind of chain: `evm`; `core`, the epoch-based core space of Conflux; `cell`, the cell-based chain
 * of CKB; `registry`, a name registry's indexer.
 */
export type Family = 'evm' | 'core' | 'cell' | 'registry';

/** Settings of a network's JSON-RPC interface. */
interface RpcPolicy {
  /** EVM family: whether it offers the reads that wallets ask first. */
  profile: 'wallets' | 'strict';
  /** Methods beyond those of the family, passed on unchanged. */
  allow: readonly string[];
  /** Methods of the family that this network does not offer. */
  deny: readonly string[];
  /** Units that a call of a method costs, by public name; methods without one cost what the gateway's table says. */
  costs: Readonly<Record<string, number>>;
  /** Prefix of clients → prefix of upstreams. */
  aliases: Readonly<Record<string, string>>;
  /** EVM family: whether blocks, receipts and logs are proved before they are passed on. */
  integrity: 'off' | 'full';
  /** Time limit of a call in milliseconds, all requests to upstreams included. */
  timeoutMs: number;
  /** The same for eth_call. */
  callTimeoutMs: number;
  /** Most concurrent eth_call of one key, or of one address without a key. */
  maxCallsInFlight: number;
  /** Highest gas of an eth_call; null: none. */
  gasCap: number | null;
  /** Whether more gas is lowered to the cap, as geth does, or refused. */
  aboveGasCap: 'lower' | 'reject';
  /** Most bytes of an answer. */
  maxAnswerBytes: number;
  /** Most logs in an answer. */
  maxLogs: number;
  /** Core family: replaces a missing or larger `limit` of a log filter; null: no replacement. */
  logLimit: number | null;
  /** `always200`: for clients that never read the body of another status. */
  httpErrors: 'status' | 'always200';
  /** Whether clients need no key. */
  open: boolean;
}

/** One network of the networks file, defaults filled in. */
export interface Network {
  /** Lower-case letters, digits and dashes; the first segment of paths and object keys. */
  id: string;
  family: Family;
  /** The result of eth_chainId; in the core family the network id of its addresses; 0 if there is none. */
  chainId: number;
  rpc: RpcPolicy;
  /** Absent: `<public url>/<id>/v1/`. Ends in `/v1/`. */
  baseUrl?: string;
  /** Absent: `<public url>/<id>/files`. No trailing slash. */
  downloadUrl?: string;
  upstreams: readonly Upstream[];
  finality: {
    /** Ask for the `finalized` tag. If false, or if the upstream does not support it, `depth` is used. */
    tag: boolean;
    /** Blocks behind the head that are final. */
    depth: number;
  };
  /** Time between two polls of the head, in milliseconds. */
  pollIntervalMs: number;
  /** With the network's chainId. */
  proofs: ProofPolicy;
  bundles: {
    enabled: boolean;
    kinds: readonly Kind[];
    /** Most bytes of gzip in a bundle: it ends before the fragment that would exceed this. */
    maxBytes: number;
    /** Most blocks in a bundle. */
    maxBlocks: number;
  };
}

/** The name of a method at a network's upstreams, by its `rpc.aliases`: `core_getLogs` is `cfx_getLogs` there. */
export function nodeMethod(name: string, aliases: Readonly<Record<string, string>>): string {
  for (const [ours, theirs] of Object.entries(aliases)) {
    if (name.startsWith(ours)) return theirs + name.slice(ours.length);
  }
  return name;
}
