import type { Kind, ProofPolicy } from '@packhouse/chain';
import type { z } from 'zod';
import type { evmSchema, upstreamSchema } from './network-schema.js';

type UpstreamFields = z.output<typeof upstreamSchema>;
type NetworkFields = z.output<typeof evmSchema>;

/** One upstream of a network, secrets filled in from the environment. The schema describes its fields. */
export interface Upstream extends Omit<UpstreamFields, 'oldest'> {
  /** Unique in the network. */
  name: string;
  provider: string;
  oldest?: Readonly<NonNullable<UpstreamFields['oldest']>> | undefined;
}

/**
 * The kind of chain: `evm`; `core`, the epoch-based core space of Conflux; `cell`, the cell-based chain
 * of CKB; `registry`, a name registry's indexer.
 */
export type Family = 'evm' | 'core' | 'cell' | 'registry';

/** One network of the networks file, defaults filled in. The schema describes the other fields. */
export interface Network extends Omit<NetworkFields, 'family' | 'rpc' | 'upstreams' | 'proofs' | 'bundles'> {
  family: Family;
  /** The result of eth_chainId; in the core family the network id of its addresses; 0 if there is none. */
  chainId: number;
  rpc: { readonly [K in keyof NetworkFields['rpc']]: Readonly<NetworkFields['rpc'][K]> };
  upstreams: readonly Upstream[];
  /** With the network's chainId. */
  proofs: ProofPolicy;
  bundles: Omit<NetworkFields['bundles'], 'kinds'> & { kinds: readonly Kind[] };
}
