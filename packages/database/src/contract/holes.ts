import type { BlockRange, Kind } from '@packhouse/chain';

/** Why a block of a kind is not published; what each needs is said by the pipeline. */
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

/** Why a block of a kind is not published. */
export type HoleReason = (typeof HOLE_REASONS)[number];

/** Blocks that follow one another and are not published for one reason. */
export interface Hole extends BlockRange {
  reason: HoleReason;
  /** Whether the blocks are staged: each answers as a file of its own already. */
  staged: boolean;
  /** Of a quarantined hole: error code, most attempts and earliest next try of its blocks. */
  quarantine: { cause: string; attempts: number; nextTry: Date } | null;
}

/** What one kind has within a range: published ranges and holes partition it. */
export interface KindHoles {
  kind: Kind;
  published: BlockRange[];
  holes: Hole[];
}

/** A page of coverage: everything there is to say about `range`, in every kind asked for. */
export interface HolesPage {
  /** null: no head was noted yet. */
  head: number | null;
  /** Highest final block, -1 if there is none; null if no head was noted yet. */
  finalized: number | null;
  range: BlockRange;
  /** The block that the next page begins with; null: this is the last page. */
  next: number | null;
  kinds: KindHoles[];
}

/** What the queue knows; it only tells `queued`, `fetching` and `packing` from `waiting` and `staged`. */
export interface QueueHints {
  windows: readonly (BlockRange & { kinds: readonly Kind[]; running: boolean })[];
  /** Kinds that are being packed. */
  packing: readonly Kind[];
}

/** Blocks of one kind by state. */
export interface HoleCounts {
  kind: Kind;
  published: number;
  /** Only those that there are; their sum and `published` are the blocks of the range. */
  missing: Partial<Record<HoleReason, number>>;
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
  /** What has been in quarantine for the longest time. */
  oldestQuarantine: OldestQuarantine | null;
}

/** A row of the quarantine, as far as it interests people who look at coverage. */
export interface OldestQuarantine extends BlockRange {
  /** Error code. */
  cause: string;
  attempts: number;
  firstSeen: Date;
  nextTry: Date;
}

/** What is not published, and why. */
export interface Holes {
  /**
   * Published ranges and holes of the kinds within the range, from its start on: at most `limit` holes a kind, and
   * at least one block. What is read grows with the page, not with what is published.
   */
  page(request: {
    kinds: readonly Kind[];
    range: BlockRange;
    limit: number;
    hints?: QueueHints | undefined;
  }): Promise<HolesPage>;
  /** Blocks of the range by what became of them, a row a kind asked for. */
  count(request: {
    kinds: readonly Kind[];
    range: BlockRange;
    hints?: QueueHints | undefined;
  }): Promise<HoleCounts[]>;
  /** The nearest ranges of published or staged blocks below and above a block that is neither. */
  around(kind: Kind, block: number): Promise<{ below: BlockRange | null; above: BlockRange | null }>;
  standing(): Promise<Standing>;
}
