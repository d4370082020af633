/** Counts faults by kind. */
export interface Tally {
  add(kind: string, times?: number): void;
  read(): Record<string, number>;
}

/** Starts from nothing. */
export function createTally(): Tally {
  const counts = new Map<string, number>();
  return {
    add(kind, times = 1) {
      if (times > 0) counts.set(kind, (counts.get(kind) ?? 0) + times);
    },
    read: () => Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}
