import { createHash, randomBytes, randomInt } from 'node:crypto';
import { PackhouseError } from '@packhouse/runtime';
import { type Connections, statement } from '../../connection/connections.js';
import { PLAN_JSON, type Plan, planUnknown } from './plans.js';

export interface KeyRow {
  id: number;
  /** `ph_` + 8 letters and digits: may be shown. */
  prefix: string;
  application: string;
  /** null: all networks. */
  network: string | null;
  plan: Plan;
  createdAt: Date;
  expiresAt: Date | null;
  revokedAt: Date | null;
  /** Browser origins that may use it: `https://app.example.com`, `*.example.com`; empty: all, and other clients. */
  origins: readonly string[];
  /** Addresses of clients that may use it, in CIDR notation; empty: all. */
  addresses: readonly string[];
  /** JSON-RPC methods, and `bundle-api`, `download`, `nft`, `usage`, that it allows; empty: all. */
  methods: readonly string[];
  /** Contracts that its calls may read, `0x` and 40 hex digits in lower case; empty: all. */
  contracts: readonly string[];
  /** Most blocks of one eth_getLogs, if that is less than its plan allows; null: as the plan. */
  maxLogRange: number | null;
  /** Until when gateways log its requests for operators and its holder; null: they do not. */
  loggedUntil: Date | null;
  /** Until when they log parameters of calls too; null: they do not. */
  paramsUntil: Date | null;
}

/** A key as operators see it. */
export interface ListedKey extends KeyRow {
  applicationId: number;
  /** The account that owns its application; null: nobody. */
  owner: string | null;
  /** When a gateway last counted a request, within a second; null: never, or before the usage that is kept. */
  lastUsedAt: Date | null;
  /** Until when the secret before the last rotation works too; null: it does not. */
  oldSecretUntil: Date | null;
}

/** A key in use that ends soon. */
type ExpiringKey = Pick<ListedKey, 'prefix' | 'application' | 'network'> & {
  expiresAt: Date;
  lastUsedAt: Date;
  /** Milliseconds until its end. */
  leftMs: number;
};

/** What is changed of a key. */
export type KeyTerms = Pick<
  KeyRow,
  'network' | 'expiresAt' | 'origins' | 'addresses' | 'methods' | 'contracts' | 'maxLogRange'
> & { plan: string };

/** A KeyRow, from api_key k, application a, plan p: without the hash of the secret. */
const KEY = `k.id, k.prefix, a.name AS application, k.network, ${PLAN_JSON} AS plan, k.created_at AS "createdAt",
     k.expires_at AS "expiresAt", k.revoked_at AS "revokedAt", k.origins, k.addresses, k.methods, k.contracts,
     k.max_log_range AS "maxLogRange", k.logged_until AS "loggedUntil",
     k.params_until AS "paramsUntil"`;
/** A ListedKey: the last day of a key is one walk down the primary key. */
const LISTED = `${KEY}, k.application_id AS "applicationId",
     (SELECT o.name FROM packhouse.operator AS o WHERE o.id = a.owner_id) AS owner,
     (SELECT u.last_at FROM packhouse.key_usage AS u WHERE u.key_id = k.id ORDER BY u.day DESC LIMIT 1) AS "lastUsedAt",
     CASE WHEN k.old_until > clock_timestamp() THEN k.old_until END AS "oldSecretUntil"`;
const JOINED = `JOIN packhouse.application AS a ON a.id = k.application_id
   JOIN packhouse.plan AS p ON p.name = k.plan`;

/**
 * $1 application, $2 plan, $3 network or null, $4 prefix, $5 sha256, $6 expiry or null,
 * $7 origins, $8 addresses, $9 methods, $10 contracts, $11 most blocks of logs or null.
 *
 * Creates the application if there is none (the update changes nothing; it makes RETURNING return its id, and waits for
 * an application that is being archived). Returns no row and creates no application if the plan does not exist, and no
 * key if the application is archived.
 */
const insertKey = statement(
  'keys/insert-key',
  `WITH p AS (
     SELECT * FROM packhouse.plan WHERE name = $2
   ), a AS (
     INSERT INTO packhouse.application (name) SELECT $1::text FROM p
     ON CONFLICT (name) DO UPDATE SET name = excluded.name
     RETURNING id, name, owner_id, archived_at
   ), k AS (
     INSERT INTO packhouse.api_key (application_id, plan, network, prefix, sha256, expires_at, origins, addresses,
       methods, contracts, max_log_range)
     SELECT a.id, p.name, $3::text, $4::text, $5::bytea, $6::timestamptz, $7::text[], $8::text[],
       $9::text[], $10::text[], $11::int8
     FROM a, p WHERE a.archived_at IS NULL
     RETURNING *
   )
   SELECT ${LISTED} FROM k, a, p`,
);

/** $1 sha256 of the whole key, or of the one before it. Walks down two unique indexes. */
const selectKey = statement(
  'keys/select-key',
  `SELECT ${KEY}
   FROM packhouse.api_key AS k
   ${JOINED}
   WHERE k.sha256 = $1 OR (k.old_sha256 = $1 AND k.old_until > clock_timestamp())`,
);

/** $1 array of sha256, as in `keys/select-key`: the keys that exist, each with what it was found by. */
const selectAmong = statement(
  'keys/select-among',
  `SELECT encode(w.sha256, 'hex') AS "foundBy", ${KEY}
   FROM unnest($1::bytea[]) AS w (sha256)
   JOIN packhouse.api_key AS k
     ON k.sha256 = w.sha256 OR (k.old_sha256 = w.sha256 AND k.old_until > clock_timestamp())
   ${JOINED}`,
);

/**
 * $1 part of the application's name, or beginning of the prefix, or null for all; $2 id to begin after; $3 limit; $4
 * application or null; $5 name of its owner or null.
 */
const selectKeys = statement(
  'keys/select-keys',
  `SELECT ${LISTED}
   FROM packhouse.api_key AS k
   ${JOINED}
   WHERE k.id > $2::int8
     AND ($1::text IS NULL OR strpos(lower(a.name), lower($1)) > 0 OR starts_with(k.prefix, $1))
     AND ($4::int8 IS NULL OR k.application_id = $4)
     AND ($5::text IS NULL OR a.owner_id = (SELECT o.id FROM packhouse.operator AS o WHERE o.name = $5))
   ORDER BY k.id
   LIMIT $3::int8`,
);

/** $1 id or null, $2 prefix. */
const selectNamed = statement(
  'keys/select-named',
  `SELECT ${LISTED}
   FROM packhouse.api_key AS k
   ${JOINED}
   WHERE k.id = $1::int8 OR k.prefix = $2::text`,
);

/** $1 name. */
const selectArchived = statement(
  'keys/select-archived',
  'SELECT 1 FROM packhouse.application WHERE name = $1 AND archived_at IS NOT NULL',
);

/** A key that was used within this time is in use. */
const IN_USE = `interval '7 days'`;

/** Days before its end for which operators are told of a key in use. */
const TOLD_DAYS = 7;

/** $1 limit. A range of the index of expiries. */
const selectExpiring = statement(
  'keys/select-expiring',
  `SELECT k.prefix, k.network, a.name AS application, k.expires_at AS "expiresAt", u.last_at AS "lastUsedAt",
     (extract(epoch FROM k.expires_at - clock_timestamp()) * 1000)::float8 AS "leftMs"
   FROM packhouse.api_key AS k
   JOIN packhouse.application AS a ON a.id = k.application_id
   CROSS JOIN LATERAL (
     SELECT last_at FROM packhouse.key_usage WHERE key_id = k.id ORDER BY day DESC LIMIT 1) AS u
   WHERE k.revoked_at IS NULL AND k.expires_at > clock_timestamp()
     AND k.expires_at < clock_timestamp() + interval '${TOLD_DAYS} days' AND u.last_at > clock_timestamp() - ${IN_USE}
   ORDER BY k.expires_at LIMIT $1::int8`,
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
   SELECT ${LISTED}
   FROM k
   ${JOINED}`,
);

/** $1 id. Nobody else changes it before the transaction ends. */
const lockKey = statement('keys/lock-key', 'SELECT FROM packhouse.api_key WHERE id = $1::int8 FOR UPDATE');

/**
 * $1 id, $2 plan, $3 network, $4 expiry, $5 origins, $6 addresses, $7 methods, $8 contracts, $9 most blocks of logs.
 * Returns no row if the plan does not exist.
 */
const updateTerms = statement(
  'keys/update-terms',
  `UPDATE packhouse.api_key SET plan = p.name, network = $3, expires_at = $4::timestamptz, origins = $5::text[],
     addresses = $6::text[], methods = $7::text[], contracts = $8::text[], max_log_range = $9::int8
   FROM packhouse.plan AS p WHERE id = $1::int8 AND p.name = $2 RETURNING id`,
);

/**
 * $1 id, $2 sha256, $3 milliseconds for which the old one works too; 0: not at all. The sessions of its holder end, as
 * the old secret may have begun them.
 */
const updateSecret = statement(
  'keys/update-secret',
  `WITH k AS (
     UPDATE packhouse.api_key SET sha256 = $2, old_sha256 = CASE WHEN $3::int8 > 0 THEN sha256 END,
       old_until = CASE WHEN $3::int8 > 0 THEN clock_timestamp() + $3::int8 * interval '1 millisecond' END
     WHERE id = $1::int8 AND revoked_at IS NULL RETURNING *
   ), ended AS (
     DELETE FROM packhouse.operator_secret AS s USING k WHERE s.key_id = k.id
   )
   SELECT ${LISTED} FROM k ${JOINED}`,
);

/** Ids are int8; 15 digits are always safe numbers. */
const ID = /^\d{1,15}$/;
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** API keys and their applications. */
export function createKeys(connections: Connections) {
  return {
    /**
     * Creates a key, and its application if new. Returns the secret, stored as sha256 only. Throws PLAN_UNKNOWN,
     * APPLICATION_ARCHIVED.
     */
    async create({
      application,
      network,
      plan,
      expiresAt = null,
      origins = [],
      addresses = [],
      methods = [],
      contracts = [],
      maxLogRange = null,
    }: Pick<KeyRow, 'application' | 'network'> & { plan: string } & Partial<
        Pick<KeyRow, 'expiresAt' | 'origins' | 'addresses' | 'methods' | 'contracts' | 'maxLogRange'>
      >): Promise<{ key: string; row: ListedKey }> {
      const { key, prefix, sha256 } = makeKey();
      const restrictions = [origins, addresses, methods, contracts, maxLogRange];
      const values = [application, plan, network, prefix, sha256, expiresAt, ...restrictions];
      const row = await connections.queryOne<ListedKey>(insertKey, values);
      if (row !== null) return { key, row };
      await refuseArchived(connections, application);
      throw await planUnknown(connections, plan);
    },
    /** By the SHA-256 of the whole key. */
    find: (sha256: Buffer) => connections.queryOne<KeyRow>(selectKey, [sha256]),
    /** Those of these SHA-256 that are keys, by the SHA-256 in hex. */
    async findAmong(sha256s: readonly Buffer[]): Promise<Map<string, KeyRow>> {
      const rows = await connections.query<KeyRow & { foundBy: string }>(selectAmong, [sha256s]);
      return new Map(rows.map(({ foundBy, ...row }) => [foundBy, row]));
    },
    /** By id or the exact public prefix; null if there is none. */
    named: (idOrPrefix: string) => connections.queryOne<ListedKey>(selectNamed, nameValues(idOrPrefix)),
    /** Oldest first, after this id; `search` is part of the application's name, or the beginning of the prefix. */
    list: ({
      search,
      after,
      limit,
      application,
      owner,
    }: {
      search?: string | undefined;
      after?: number | undefined;
      limit?: number;
      /** By its id. */
      application?: number | undefined;
      /** Of the application. */
      owner?: string | undefined;
    } = {}) =>
      connections.query<ListedKey>(selectKeys, [
        search ?? null,
        after ?? 0,
        limit ?? null,
        application ?? null,
        owner ?? null,
      ]),
    /** Keys in use that end within a week, the next first. */
    expiring: (limit: number) => connections.query<ExpiringKey>(selectExpiring, [limit]),
    /** Keys that are not revoked, by the name of their plan. */
    async countByPlan(): Promise<ReadonlyMap<string, number>> {
      const rows = await connections.query<{ plan: string; keys: number }>(countByPlan, []);
      return new Map(rows.map(({ plan, keys }) => [plan, keys]));
    },
    /** By id or the exact public prefix; null if there is none. */
    revoke: (idOrPrefix: string) => connections.queryOne<ListedKey>(revokeKey, nameValues(idOrPrefix)),
    /**
     * Changes a key to what `work` returns for what it is, one change after the other; null if there is no such key.
     * Throws PLAN_UNKNOWN, and what `work` throws.
     */
    change: (id: number, work: (before: ListedKey) => KeyTerms): Promise<ListedKey | null> =>
      connections.transaction(async (session) => {
        await session.query(lockKey, [id]);
        const find = () => session.queryOne<ListedKey>(selectNamed, [id, '']);
        const before = await find();
        if (before === null) return null;
        const { plan, network, expiresAt, origins, addresses, methods, contracts, maxLogRange } =
          work(before);
        const only = [origins, addresses, methods, contracts, maxLogRange];
        const changed = await session.query(updateTerms, [id, plan, network, expiresAt, ...only]);
        if (changed.length === 0) throw await planUnknown(connections, plan);
        return find();
      }),
    /**
     * Replaces the secret; its prefix stays, and the old one works too for `overlapMs`. Null if there is no such key, or
     * it is revoked.
     */
    async rotate({ id, prefix }: Pick<KeyRow, 'id' | 'prefix'>, overlapMs: number) {
      const { key, sha256 } = makeSecret(prefix);
      const row = await connections.queryOne<ListedKey>(updateSecret, [id, sha256, overlapMs]);
      return row && { key, row };
    },
  };
}

/** Throws APPLICATION_ARCHIVED if it is. */
async function refuseArchived(connections: Connections, application: string): Promise<void> {
  if ((await connections.queryOne(selectArchived, [application])) === null) return;
  throw new PackhouseError({
    code: 'APPLICATION_ARCHIVED',
    message: `The application "${application}" is archived: it gets no keys.`,
    hint: 'Restore it, or name another application.',
  });
}

function nameValues(idOrPrefix: string): [id: number | null, prefix: string] {
  return [ID.test(idOrPrefix) ? Number(idOrPrefix) : null, idOrPrefix];
}

/** A new API key: `ph_`, 8 letters and digits that may be shown, `_`, 32 random bytes in base64url. */
function makeKey(): { key: string; prefix: string; sha256: Buffer } {
  let id = '';
  while (id.length < 8) id += BASE62[randomInt(BASE62.length)];
  const prefix = `ph_${id}`;
  return { prefix, ...makeSecret(prefix) };
}

function makeSecret(prefix: string): { key: string; sha256: Buffer } {
  const key = `${prefix}_${randomBytes(32).toString('base64url')}`;
  return { key, sha256: createHash('sha256').update(key).digest() };
}
