/** Counts of a node since its start. */
export interface NodeStatistics {
  /** HTTP requests. */
  requests: number;
  /** Calls, those in batches counted one by one. */
  calls: number;
  callsByMethod: Record<string, number>;
  /** The largest batch that came. */
  largestBatch: number;
  /** Requests refused with 429 by the rate limit. */
  rateLimited: number;
  /** Requests that are being answered. */
  inFlight: number;
  /** The most that were ever answered at once. */
  mostInFlight: number;
  /** Bytes of bodies that were written. */
  bytesSent: number;
}

/** Counts. */
export interface Statistics {
  begin(): void;
  end(): void;
  limited(): void;
  called(methods: readonly string[]): void;
  sent(bytes: number): void;
  read(): NodeStatistics;
}

/** Starts from zero. */
export function createStatistics(): Statistics {
  const counts = {
    requests: 0,
    calls: 0,
    largestBatch: 0,
    rateLimited: 0,
    inFlight: 0,
    mostInFlight: 0,
    bytesSent: 0,
  };
  const callsByMethod: Record<string, number> = {};
  return {
    begin() {
      counts.requests++;
      counts.inFlight++;
      counts.mostInFlight = Math.max(counts.mostInFlight, counts.inFlight);
    },
    end() {
      counts.inFlight--;
    },
    limited() {
      counts.rateLimited++;
    },
    called(methods) {
      counts.calls += methods.length;
      counts.largestBatch = Math.max(counts.largestBatch, methods.length);
      for (const method of methods) callsByMethod[method] = (callsByMethod[method] ?? 0) + 1;
    },
    sent(bytes) {
      counts.bytesSent += bytes;
    },
    read: () => ({ ...counts, callsByMethod: { ...callsByMethod } }),
  };
}
