/** What a client that misbehaved got. */
export interface MisbehaviourReport {
  /** Requests, or connections of a client that holds them, begun. */
  sent: number;
  /** Statuses of answers, and `closed` for connections that ended without one, with how often each came. */
  statuses: Record<string, number>;
  /** JSON-RPC results in all answers, and errors. */
  results: number;
  errors: number;
}

/** The statuses in one line. */
export function getStatuses({ statuses }: Pick<MisbehaviourReport, 'statuses'>): string {
  const told = Object.entries(statuses).map(([status, times]) => `${times} x ${status}`);
  return told.length === 0 ? 'no answer' : told.join(', ');
}
