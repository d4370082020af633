/** What is remembered of a request for the log and the metrics: never the address, never the key. */
export interface Visit {
  readonly startedAt: number;
  /** Name of the route; empty where there is none. */
  route: string;
  /** A network of the networks file; empty where there is none. */
  network: string;
  /** One of the kinds; empty where there is none. */
  kind: string;
  /** Public prefix of a key that exists; empty where there is none. */
  prefix: string;
  /** Length of the body that was promised. */
  bytes: number;
}

declare module 'fastify' {
  interface FastifyRequest {
    visit: Visit;
  }
}

/** Begins a visit now. */
export function beginVisit(): Visit {
  return { startedAt: performance.now(), route: '', network: '', kind: '', prefix: '', bytes: 0 };
}
