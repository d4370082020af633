import type { ContractAddresses } from './contracts.js';

/** Who and what a block may use. */
export interface Cast {
  /** Senders of everything but blobs. */
  people: readonly string[];
  /** Sends blob transactions and nothing else, see mine-block.ts. */
  blobSender: string;
  contracts: ContractAddresses;
}
