import type { Kind } from '@packhouse/chain';
import type { Database } from '@packhouse/database';
import type { HonestChain } from '../chain/honest-chain.js';

/** The data for checking invariants. */
export interface Evidence {
  /** Past all faults. */
  database: Database;
  network: string;
  kinds: readonly Kind[];
  chain: HonestChain;
  /** The object under a key of the range index; null if there is none. */
  readObject: (objectKey: string) => Promise<Buffer | null> | Buffer | null;
}

/** More bundles than a simulation makes. */
export const ALL_ROWS = 1_000_000;
/** More blocks than a simulation has. */
export const ALL_BLOCKS = { firstBlock: 0, lastBlock: 2 ** 40 };
