/** A change that an operator made. */
export interface Change {
  id: number;
  at: Date;
  /** The operator, as the command was told. */
  who: string;
  /** Kind and name of what was changed: `backfill 7`. */
  subject: string;
  /** `add`, `set`, `pause`. */
  action: string;
  /** The subject before; null: it did not exist. */
  before: Readonly<Record<string, unknown>> | null;
  /** The subject after; null: it is gone. */
  after: Readonly<Record<string, unknown>> | null;
}

/** What operators changed, kept for a year. */
export interface Changes {
  add(change: Omit<Change, 'id' | 'at'>): Promise<void>;
  /** The newest first, below this id; of one subject (`backfill 7`), of all of a kind (`backfill`), or all. */
  list(page?: { subject?: string; limit?: number; before?: number }): Promise<Change[]>;
}
