import type { Scope } from '@packhouse/local';

/** The options of every benchmark. */
export interface BenchOptions {
  /** Ends what a benchmark started. */
  scope: Scope;
  /** Rows of the range index for the pointer lookups and for coverage. */
  rows: number;
  /** Blocks of an extract → published run, and of what is pulled. */
  blocks: number;
  /** Processes of a gateway, and of what it is held against, for `pointers`, `downloads` and `forwarding`. */
  workers: number;
  /** Length of each measurement under load, in seconds. */
  seconds: number;
  /** Runs of each side where `extract` compares, in turns. */
  rounds: number;
  /** The program of an evm-dump that `extract` is held against. */
  evmDump?: string | undefined;
  /** The root of another built clone of Packhouse that `extract` is held against. */
  before?: string | undefined;
  /** Whether `extract` writes CPU profiles instead of measuring. */
  profile: boolean;
  /** Reports progress to stderr. */
  say(line: string): void;
}
