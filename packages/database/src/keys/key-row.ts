import type { KeyRow, Plan } from '../database.js';

/** A key as it is stored, with its plan. */
export interface StoredKey extends StoredPlan {
  id: number;
  prefix: string;
  application: string;
  network: string | null;
  created_at: Date;
  expires_at: Date | null;
  revoked_at: Date | null;
  origins: string[];
  addresses: string[];
  methods: string[];
}

/** A plan as it is stored. */
export interface StoredPlan {
  plan: string;
  max_block: number | null;
  requests_per_second: number;
  requests_per_day: number | null;
}

/** Columns of StoredKey, from api_key k, application a, plan p. */
export const KEY_COLUMNS = `k.id, k.prefix, a.name AS application, k.network, k.created_at, k.expires_at,
     k.revoked_at, k.origins, k.addresses, k.methods, p.name AS plan, p.max_block, p.requests_per_second, p.requests_per_day`;

/** A key as it is handed out; its secret is nowhere. */
export function keyOf(row: StoredKey): KeyRow {
  return {
    id: row.id,
    prefix: row.prefix,
    application: row.application,
    network: row.network,
    plan: planOf(row),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    origins: row.origins,
    addresses: row.addresses,
    methods: row.methods,
  };
}

/** A plan as it is handed out. */
export function planOf(row: StoredPlan): Plan {
  return {
    name: row.plan,
    maxBlock: row.max_block,
    requestsPerSecond: row.requests_per_second,
    requestsPerDay: row.requests_per_day,
  };
}
