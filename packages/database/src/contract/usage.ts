/** What a key used of one method on one day. */
export interface UsageCount extends UsageFigures {
  keyId: number;
  /** Days since 1970-01-01 in UTC. */
  day: number;
  network: string;
  /** A JSON-RPC method, `other`, `batch`, or a route. */
  method: string;
}

interface UsageFigures {
  requests: number;
  /** What they cost; refused ones cost nothing. */
  units: number;
  /** Requests that were refused or failed. */
  errors: number;
  /** Bytes of bodies sent. */
  bytes: number;
}

/** The units of one key. */
export interface UnitsUsed {
  keyId: number;
  day: number;
  inDay: number;
  /** In the calendar month of the day. */
  inMonth: number;
}

/** What sums are made by. */
export const USAGE_GROUPS = ['key', 'day', 'method', 'network'] as const;

export type UsageGroup = (typeof USAGE_GROUPS)[number];

/** A sum over all rows of one name. */
export interface UsageSum extends UsageFigures {
  /** By its group: a key's prefix, a day as `2026-11-22`, a method, or a network. */
  name: string;
}
