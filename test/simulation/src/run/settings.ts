import type { BlockRange } from '@packhouse/chain';

/** What a simulation is asked for. */
export interface SimulationOptions {
  seed: number;
  steps: number;
  /** Where the queues live. */
  queue: 'postgres' | 'redis';
  /** Hears of every step and of what the run is at. */
  say?: (line: string) => void;
  /** The work folder stays also where nothing was violated. */
  keep?: boolean;
  /** Ends it before its time, with everything it started. */
  signal?: AbortSignal;
}

/** The network that is simulated. */
export const NETWORK = 'main';
export const CHAIN_ID = 1;
/** The chain begins shortly before the border of a staging segment, so that one is reclaimed in every run. */
export const FIRST_BLOCK = 1_008;
export const FIRST_LENGTH = 24;
/** Bundles are cut at so many blocks. */
export const MAX_BLOCKS = 8;
/** Ingest jobs of one process at a time. */
export const INGEST_CONCURRENCY = 2;
/** No process may ever have more resident memory, in bytes. */
export const MEMORY_LIMIT = 512 * 2 ** 20;
/** How long everything may take to be well again once nothing disturbs it, in milliseconds. */
export const HEAL_MS = 300_000;

/** All blocks there could be, for retries. */
export const EVERYTHING: BlockRange = { firstBlock: 0, lastBlock: 2 ** 40 };
