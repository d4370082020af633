import type { BlockRange, Kind } from '@packhouse/chain';
import type { CodedBatch, Match, Schema } from '@packhouse/rows';
import { PackhouseError } from '@packhouse/runtime';

/** What the rows of a target are, so that no others get between them. */
export interface RowOrigin {
  /** The base address of the network, ending in `/v1/`. */
  base: string;
  kind: Kind;
  /** Name of the schema. */
  schema: string;
  match: Match;
}

/** What a target remembers of itself, kept together with its rows. */
export interface SinkState {
  format: 'packhouse-rows-1';
  origin: RowOrigin;
  /** Blocks whose rows it has: ascending, not touching. */
  done: BlockRange[];
  /** Entries of the manifest when the last run began. */
  entries: number;
  /** Blocks whose bundle was published again after their rows were taken from the one before. */
  replaced: BlockRange[];
  rows: number;
  /** Of a feed that is followed: it stands behind the blocks; absent: the rows were pulled. */
  cursor?: string | undefined;
}

/** What to make of a target. */
export interface SinkOptions {
  schema: Schema;
  origin: RowOrigin;
  /** Name of the network, for folders. */
  network: string;
}

/** What the next commit keeps as it is then. */
type Kept = 'entries' | 'replaced' | 'cursor';

/** A target of rows. A process that is killed leaves it as after the last commit. */
export interface Sink {
  /** What it remembers; `entries`, `replaced` and `cursor` may be changed, and are kept by the next commit. */
  readonly state: Readonly<Omit<SinkState, Kept>> & Pick<SinkState, Kept>;
  /** Rows that are worth a commit. */
  readonly commitRows: number;
  write(batch: CodedBatch): Promise<void>;
  /** What was written since the last commit are all rows of these blocks: keeps both, or neither. */
  commit(blocks: BlockRange): Promise<void>;
  /** Forgets what is not committed. */
  close(): Promise<void>;
}

/** The state of a new target. */
export function newState(origin: RowOrigin): SinkState {
  return { format: 'packhouse-rows-1', origin, done: [], entries: 0, replaced: [], rows: 0 };
}

/** Reads the state of a target. Throws TARGET_MISMATCH if it is of other rows, or of another version. */
export function checkState(target: string, text: string, origin: RowOrigin): SinkState {
  const state = parse(text);
  if (state === null) throw mismatch(target, 'has a state that this version cannot read');
  for (const name of ['base', 'kind', 'schema', 'match'] as const) {
    const [has, wanted] = [state.origin[name], origin[name]].map((value) => JSON.stringify(value));
    if (has !== wanted) throw mismatch(target, `has rows of ${name} ${has}; this pull has ${wanted}`);
  }
  return state;
}

/** The error of a target with other rows or columns. */
export function mismatch(target: string, what: string, cause?: unknown): PackhouseError {
  return new PackhouseError({
    code: 'TARGET_MISMATCH',
    message: `${target} ${what}.`,
    hint: 'Give another target.',
    cause,
  });
}

/** Blocks, cut where partitions begin, if there are such. */
export function cutAt(partition: number | undefined, { firstBlock, lastBlock }: BlockRange): BlockRange[] {
  const cut: BlockRange[] = [];
  for (let first = firstBlock; first <= lastBlock; ) {
    const next = partition === undefined ? lastBlock + 1 : first - (first % partition) + partition;
    cut.push({ firstBlock: first, lastBlock: Math.min(lastBlock, next - 1) });
    first = next;
  }
  return cut;
}

function parse(text: string): SinkState | null {
  try {
    const state = JSON.parse(text) as SinkState;
    return state.format === 'packhouse-rows-1' && Array.isArray(state.done) ? state : null;
  } catch {
    return null;
  }
}
