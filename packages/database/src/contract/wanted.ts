import type { BlockRange, Kind } from '@packhouse/chain';

/** Who a range is fetched for, and on what terms. */
export interface RangeTerms {
  /** 1 to 64 lower-case letters, digits, dots, dashes and underscores. */
  owner: string;
  /** Its share beside ranges of the same priority, 1 to 1000. */
  weight: number;
  /** When it is fetched, such as `Mon-Fri 20:00-06:00 Europe/Berlin`; empty: always. */
  windows: readonly string[];
  deadline: Date | null;
  /** null: no limit. */
  maxRequests: number | null;
}

/** An inclusive range that operators asked for. */
export interface WantedRange extends RangeTerms {
  id: number;
  network: string;
  kinds: readonly Kind[];
  start: number;
  /** null: follow the head. */
  end: number | null;
  /** 1 (first) to 1000. */
  priority: number;
  state: 'active' | 'paused' | 'cancelled';
  createdAt: Date;
}

/** What is wanted of a network by kind: merged ranges, ascending; one that follows the head ends at Infinity. */
export interface WantedRuns {
  active: ReadonlyMap<Kind, readonly BlockRange[]>;
  paused: ReadonlyMap<Kind, readonly BlockRange[]>;
  /** Kinds that were ever wanted, also by ranges that were cancelled. */
  kinds: readonly Kind[];
}

/** A wanted range as it is planned. */
export type OpenRange = Omit<WantedRange, 'network' | 'state' | 'createdAt' | 'deadline'>;

/** The ranges of all networks. */
export interface AllWanted {
  /** Ranges of all networks, in the order they are worked on. */
  list(): Promise<WantedRange[]>;
  find(id: number): Promise<WantedRange | null>;
  /**
   * Changes what is given of a range, under its lock, and notes it in `changes` as `action` (default `set`) of `who`.
   * `check` may throw first, also under the lock. Returns the range before and after; null if there is none.
   */
  change(
    id: number,
    change: Partial<RangeTerms & Pick<WantedRange, 'priority' | 'state'>>,
    by?: { who?: string; action?: string; check?: (before: WantedRange) => void },
  ): Promise<{ before: WantedRange; after: WantedRange } | null>;
}

/** The ranges of one network. */
export interface Wanted {
  /** Adds a range, by default of owner `default`, weight 1 and no other terms, and notes it in `changes`. */
  add(
    range: Pick<WantedRange, 'kinds' | 'start' | 'end' | 'priority'> & Partial<RangeTerms>,
    who?: string,
  ): Promise<WantedRange>;
  list(): Promise<WantedRange[]>;
  /** Read once for each change of what the network wants; else one row is read. The same object until then. */
  runs(): Promise<WantedRuns>;
  /** The active ranges that are not folded, in the order they are worked on; read like `runs`. */
  open(): Promise<readonly OpenRange[]>;
  /**
   * The most blocks of one of the kinds that were published of a range in the last day, or only after `since`; `first` is
   * when the first of them was, `from` when that time began, and `now` when it ended, by the clock of Postgres.
   */
  pace(
    range: Pick<WantedRange, 'kinds' | 'start' | 'end'>,
    since: Date | null,
  ): Promise<{ blocks: number; first: Date | null; from: Date; now: Date }>;
  /** Ids of open ranges for which as many requests were sent as they may take. */
  spent(): Promise<ReadonlySet<number>>;
  /**
   * Folds ranges of which everything is published: looks at the next `limit` open ones after the range `after`, and
   * returns where to go on; null: at the beginning.
   */
  fold(after: number | null, limit: number): Promise<number | null>;
}
