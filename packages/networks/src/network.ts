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
}

/** One network of the networks file, defaults filled in. */
export interface Network {
  /** Lower-case letters, digits and dashes; the first segment of paths and object keys. */
  id: string;
  family: 'evm';
  chainId: number;
  /** Absent: `<public url>/<id>/v1/`. Ends in `/v1/`. */
  baseUrl?: string;
  /** Absent: `<public url>/<id>/files`. No trailing slash. */
  downloadUrl?: string;
  upstreams: readonly Upstream[];
  finality: {
    /** Ask for the `finalized` tag. Where it is false, or the node does not know it, `depth` counts. */
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
    /** A bundle is cut where the next fragment would pass this many bytes of gzip. */
    maxBytes: number;
    /** A bundle is also cut at this many blocks. */
    maxBlocks: number;
  };
}
