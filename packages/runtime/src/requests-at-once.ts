/**
 * How many requests of one key for each document of the bundle API a gateway answers at a time; clients hold themselves to
 * it. 100,000 entries of a manifest take the database about 45 ms, and a page of filters is in memory until it is sent.
 */
export const REQUESTS_AT_ONCE = { manifest: 4, files: 4, filters: 4, coverage: 2 } as const;
