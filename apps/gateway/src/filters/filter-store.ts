import type { Database } from '@packhouse/database';

/** Where filters live between polls, for all gateways together: Postgres, or Redis where there is one. */
export type FilterStore = Database['filters'];
