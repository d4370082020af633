/** The options of every benchmark. */
export interface BenchOptions {
  /** Rows of the range index for the pointer lookups and for coverage. */
  rows: number;
  /** Blocks of an extract → published run, and of what is pulled. */
  blocks: number;
  /** Length of each measurement under load, in seconds. */
  seconds: number;
  /** Reports progress to stderr. */
  say(line: string): void;
}
