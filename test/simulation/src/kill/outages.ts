/** A time without an answer, as a client sees it: from the last good answer to the next one. */
interface Outage {
  /** Milliseconds since the epoch. */
  from: number;
  to: number;
}

/** What a client saw of a gateway. */
export interface Outages {
  /** A request was answered at this time, or was not. */
  told(answered: boolean, at?: number): void;
  requests(): number;
  failed(): number;
  /** Those that are over. */
  list(): Outage[];
}

/** Makes outages out of answers. */
export function createOutages(): Outages {
  let requests = 0;
  let failed = 0;
  const outages: Outage[] = [];
  let lastGood: number | undefined;
  let down = false;
  return {
    told(answered, at = Date.now()) {
      requests += 1;
      if (!answered) failed += 1;
      else {
        if (down && lastGood !== undefined) outages.push({ from: lastGood, to: at });
        lastGood = at;
      }
      down = !answered;
    },
    requests: () => requests,
    failed: () => failed,
    list: () => [...outages],
  };
}
