import type { BlockRange, Kind } from '@packhouse/chain';

/** Reasons why a block of a kind is not published; the pipeline explains how each is resolved. */
export const HOLE_REASONS = [
  'not-wanted',
  'cancelled',
  'paused',
  'waiting',
  'held-back',
  'halted',
  'queued',
  'fetching',
  'quarantined',
  'staged',
  'packing',
  'not-finalized',
  'beyond-head',
] as const;

/** The reason why a block of a kind is not published. */
export type HoleReason = (typeof HOLE_REASONS)[number];

/** Blocks that follow one another and are not published for one reason. */
export interface Hole extends BlockRange {
  reason: HoleReason;
  /** Whether the blocks are staged: each is served as a single file already. */
  staged: boolean;
  /** Of a quarantined hole: error code, most attempts and earliest next try of its blocks. */
  quarantine: { cause: string; attempts: number; nextTry: Date } | null;
}

/** Coverage of one kind within a range: published ranges and holes partition it. */
export interface KindHoles {
  kind: Kind;
  published: BlockRange[];
  holes: Hole[];
}

/** A page of coverage: all of `range`, in every requested kind. */
export interface HolesPage {
  /** null: no head is stored yet. */
  head: number | null;
  /** Highest final block, -1 if there is none; null if no head is stored yet. */
  finalized: number | null;
  range: BlockRange;
  /** The block that the next page begins with; null: this is the last page. */
  next: number | null;
  kinds: KindHoles[];
}

/** State of the queue; used only to tell `queued`, `fetching` and `packing` from `waiting` and `staged`. */
export interface QueueHints {
  windows: readonly (BlockRange & { kinds: readonly Kind[]; running: boolean })[];
  /** Kinds that are being packed. */
  packing: readonly Kind[];
}

/** Blocks of one kind by state. */
export interface HoleCounts {
  kind: Kind;
  published: number;
  /** Only reasons that occur; their sum plus `published` is the number of blocks of the range. */
  missing: Partial<Record<HoleReason, number>>;
}

/** What is asked of a view of coverage by columns. */
export interface ColumnsRequest {
  kinds: readonly Kind[];
  range: BlockRange;
  /** Columns of a kind, at most. */
  columns: number;
  hints?: QueueHints | undefined;
}

/** A range in columns of the same width: column n is of the blocks from n * width on, as far as the range has them. */
export interface Columns {
  /** Blocks of a column: a power of two. */
  width: number;
  kinds: {
    kind: Kind;
    /** All columns of the range, ascending: blocks that are not published, and all reasons why. */
    columns: { missing: number; reasons: HoleReason[] }[];
  }[];
}

/** How far one kind of a network is. */
export interface KindStanding {
  kind: Kind;
  /** Whether it is wanted, now or when a pause ends. */
  wanted: boolean;
  /** Highest block up to which it is published from the network's first wanted block on, without a hole. */
  completeTo: number | null;
  /** Highest block that is published. */
  newest: number | null;
  /** Published bundles, their blocks and bytes, and when the newest was published. */
  bundles: number;
  blocks: number;
  bytes: number;
  newestAt: Date | null;
}

/** How far a network is. */
export interface Standing {
  head: number | null;
  finalized: number | null;
  /** The first block that is wanted in any kind. */
  firstWanted: number | null;
  /** The last block that is wanted by a range that has an end; null if there is none. */
  lastWanted: number | null;
  /** Highest block up to which everything from `firstWanted` on is published in every wanted kind. */
  completeTo: number | null;
  /** Kinds that are wanted, or of which something is published. */
  kinds: KindStanding[];
  /** The oldest row in quarantine. */
  oldestQuarantine: OldestQuarantine | null;
}

/** How far one of all networks is. */
export type NetworkStanding = Omit<Standing, 'oldestQuarantine'> & { network: string };

/** A row of the quarantine with the columns that a view of coverage needs. */
export interface OldestQuarantine extends BlockRange {
  /** Error code. */
  cause: string;
  attempts: number;
  firstSeen: Date;
  nextTry: Date;
}

/** The blocks that are not published, and why. */
export interface Holes {
  /**
   * Published ranges and holes of the kinds within the range, from its start on: at most `limit` holes a kind, and
   * at least one block. Its cost grows with the page, not with the number of bundles.
   */
  page(request: {
    kinds: readonly Kind[];
    range: BlockRange;
    limit: number;
    hints?: QueueHints | undefined;
  }): Promise<HolesPage>;
  /** Counts the blocks of the range by state, one row for each requested kind. The cost grows with all holes. */
  count(request: {
    kinds: readonly Kind[];
    range: BlockRange;
    hints?: QueueHints | undefined;
  }): Promise<HoleCounts[]>;
  /**
   * Says of each column of the range what is missing and why, exactly. The cost grows with the columns and with what is
   * ordered, staged and quarantined, not with what is published: where published runs are too many to be read, columns
   * are as wide as the chunks that are counted when bundles are published, and fewer.
   */
  columns(request: ColumnsRequest): Promise<Columns>;
  /** Whether more than `limit` separate ranges of these kinds are wanted, or were, within the range. */
  isScattered(request: { kinds: readonly Kind[]; range: BlockRange; limit: number }): Promise<boolean>;
  /** The nearest ranges of published or staged blocks below and above a block that is neither. */
  around(kind: Kind, block: number): Promise<{ below: BlockRange | null; above: BlockRange | null }>;
  standing(): Promise<Standing>;
}
