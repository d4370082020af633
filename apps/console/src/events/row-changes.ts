/** The changes of a list: the rows that are new or changed, by key, and the keys in order if that changed. */
interface RowsEvent {
  keys?: string[];
  rows: Record<string, object>;
}

/** A list of rows as it was last read. */
export interface RowChanges {
  /** Notes a reading; returns what changed since the one before, null: nothing. */
  take(rows: readonly object[]): RowsEvent | null;
  /** All of the last reading. */
  all(): RowsEvent;
}

/** Creates an empty list. */
export function createRowChanges(keyOf: (row: object) => string): RowChanges {
  let rows = new Map<string, { row: object; text: string }>();

  return {
    take(read) {
      const now = new Map(read.map((row) => [keyOf(row), { row, text: JSON.stringify(row) }]));
      const before = [...rows.keys()];
      const keys = [...now.keys()];
      const changed = [...now].filter(([key, { text }]) => rows.get(key)?.text !== text);
      rows = now;
      const sameKeys = before.length === keys.length && keys.every((key, at) => key === before[at]);
      if (sameKeys && changed.length === 0) return null;
      const event = { rows: Object.fromEntries(changed.map(([key, { row }]) => [key, row])) };
      return sameKeys ? event : { keys, ...event };
    },
    all: () => ({
      keys: [...rows.keys()],
      rows: Object.fromEntries([...rows].map(([key, { row }]) => [key, row])),
    }),
  };
}
