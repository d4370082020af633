/** A time without an answer, as a client sees it: from the last good answer to the next one. */
export interface Outage {
  /** Milliseconds since the epoch. */
  from: number;
  to: number;
}

/** Makes outages out of answers. */
export function createOutages(): {
  good(at: number): void;
  bad(): void;
  /** Those that are over. */
  list(): Outage[];
} {
  const outages: Outage[] = [];
  let lastGood: number | undefined;
  let down = false;
  return {
    good(at) {
      if (down && lastGood !== undefined) outages.push({ from: lastGood, to: at });
      down = false;
      lastGood = at;
    },
    bad() {
      down = true;
    },
    list: () => [...outages],
  };
}
