import { createHash, randomBytes, randomInt } from 'node:crypto';
import { type Connections, statement } from '../connection/connections.js';
import type { Database } from '../contract/database.js';
import type { KeyRow } from '../contract/rows.js';
import { PLAN_LIMITS, planOf, planUnknown, type StoredLimits } from './plans.js';

/** Columns of StoredKey, from api_key k, application a, plan p. */
const KEY_COLUMNS = `k.id, k.prefix, a.name AS application, k.network, k.created_at, k.expires_at,
     k.revoked_at, k.origins, k.addresses, k.methods, p.name AS plan, ${PLAN_LIMITS}`;

interface StoredKey extends StoredLimits {
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
  plan: string;
}

/**
 * $1 application, $2 plan, $3 network or null, $4 prefix, $5 sha256, $6 expiry or null,
 * $7 origins, $8 addresses, $9 methods.
 *
 * Creates the application if there is none (the update changes nothing; it makes RETURNING return its id). Returns no
 * row and creates no application if the plan does not exist.
 */
const insertKey = statement(
  'keys/insert-key',
  `WITH p AS (
     SELECT * FROM packhouse.plan WHERE name = $2
   ), a AS (
     INSERT INTO packhouse.application (name) SELECT $1::text FROM p
     ON CONFLICT (name) DO UPDATE SET name = excluded.name
     RETURNING id, name
   ), k AS (
     INSERT INTO packhouse.api_key (application_id, plan, network, prefix, sha256, expires_at, origins, addresses,
       methods)
     SELECT a.id, p.name, $3::text, $4::text, $5::bytea, $6::timestamptz, $7::text[], $8::text[],
       $9::text[]
     FROM a, p
     RETURNING *
   )
   SELECT ${KEY_COLUMNS} FROM k, a, p`,
);

/** $1 sha256 of the whole key. One walk down the unique index. */
const selectKey = statement(
  'keys/select-key',
  `SELECT ${KEY_COLUMNS}
   FROM packhouse.api_key AS k
   JOIN packhouse.application AS a ON a.id = k.application_id
   JOIN packhouse.plan AS p ON p.name = k.plan
   WHERE k.sha256 = $1`,
);

/** $1 part of the application's name, or beginning of the prefix, or null for all; $2 id to begin after; $3 limit. */
const selectKeys = statement(
  'keys/select-keys',
  `SELECT ${KEY_COLUMNS}
   FROM packhouse.api_key AS k
   JOIN packhouse.application AS a ON a.id = k.application_id
   JOIN packhouse.plan AS p ON p.name = k.plan
   WHERE k.id > $2::int8
     AND ($1::text IS NULL OR strpos(lower(a.name), lower($1)) > 0 OR starts_with(k.prefix, $1))
   ORDER BY k.id
   LIMIT $3::int8`,
);

/** $1 id or null, $2 prefix. */
const selectNamed = statement(
  'keys/select-named',
  `SELECT ${KEY_COLUMNS}
   FROM packhouse.api_key AS k
   JOIN packhouse.application AS a ON a.id = k.application_id
   JOIN packhouse.plan AS p ON p.name = k.plan
   WHERE k.id = $1::int8 OR k.prefix = $2::text`,
);

const countByPlan = statement(
  'keys/count-by-plan',
  'SELECT plan, count(*) AS keys FROM packhouse.api_key WHERE revoked_at IS NULL GROUP BY plan',
);

/** $1 id or null, $2 prefix. A key that is revoked already keeps its date. */
const revokeKey = statement(
  'keys/revoke-key',
  `WITH k AS (
     UPDATE packhouse.api_key SET revoked_at = coalesce(revoked_at, now())
     WHERE id = $1::int8 OR prefix = $2::text
     RETURNING *
   )
   SELECT ${KEY_COLUMNS}
   FROM k
   JOIN packhouse.application AS a ON a.id = k.application_id
   JOIN packhouse.plan AS p ON p.name = k.plan`,
);

/** Ids are int8; 15 digits are always safe numbers. */
const ID = /^\d{1,15}$/;
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** API keys and their applications. */
export function createKeys(connections: Connections): Database['keys'] {
  return {
    create: async ({ application, network, plan, expiresAt = null, ...only }) => {
      const { key, prefix, sha256 } = makeKey();
      const { origins = [], addresses = [], methods = [] } = only;
      const values = [application, plan, network, prefix, sha256, expiresAt, origins, addresses, methods];
      const [row] = await connections.query<StoredKey>(insertKey, values);
      if (row !== undefined) return { key, row: keyOf(row) };
      throw await planUnknown(connections, plan);
    },
    find: async (sha256) => (await connections.query<StoredKey>(selectKey, [sha256])).map(keyOf)[0] ?? null,
    named: async (idOrPrefix) =>
      (await connections.query<StoredKey>(selectNamed, nameValues(idOrPrefix))).map(keyOf)[0] ?? null,
    list: async ({ search, after, limit } = {}) => {
      const values = [search ?? null, after ?? 0, limit ?? null];
      return (await connections.query<StoredKey>(selectKeys, values)).map(keyOf);
    },
    countByPlan: async () => {
      const rows = await connections.query<{ plan: string; keys: number }>(countByPlan, []);
      return new Map(rows.map(({ plan, keys }) => [plan, keys]));
    },
    revoke: async (idOrPrefix) =>
      (await connections.query<StoredKey>(revokeKey, nameValues(idOrPrefix))).map(keyOf)[0] ?? null,
  };
}

function nameValues(idOrPrefix: string): [id: number | null, prefix: string] {
  return [ID.test(idOrPrefix) ? Number(idOrPrefix) : null, idOrPrefix];
}

/** A new API key: `ph_`, 8 letters and digits that may be shown, `_`, 32 random bytes in base64url. */
function makeKey(): { key: string; prefix: string; sha256: Buffer } {
  let id = '';
  while (id.length < 8) id += BASE62[randomInt(BASE62.length)];
  const prefix = `ph_${id}`;
  const key = `${prefix}_${randomBytes(32).toString('base64url')}`;
  return { key, prefix, sha256: createHash('sha256').update(key).digest() };
}

/** The row as returned to callers, without the secret's hash. */
function keyOf(row: StoredKey): KeyRow {
  return {
    id: row.id,
    prefix: row.prefix,
    application: row.application,
    network: row.network,
    plan: planOf(row.plan, row),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    origins: row.origins,
    addresses: row.addresses,
    methods: row.methods,
  };
}
