import { type Connections, statement } from '../connection/connections.js';
import type { Database } from '../contract/database.js';
import type { OperatorRow, SecretHolder } from '../contract/operators.js';

const OPERATOR = `id, name, role, password IS NOT NULL AS "hasPassword", created_at AS "createdAt"`;

/** $1 name, $2 role, $3 hash of the password or null. */
const insertOperator = statement(
  'operators/insert-operator',
  `INSERT INTO packhouse.operator (name, role, password) VALUES ($1, $2, $3)
   ON CONFLICT (name) DO NOTHING RETURNING ${OPERATOR}`,
);

const selectOperators = statement(
  'operators/select-operators',
  `SELECT ${OPERATOR} FROM packhouse.operator ORDER BY name`,
);

/** $1 name, $2 role or null, $3 hash of the password or null. */
const updateOperator = statement(
  'operators/update-operator',
  `WITH changed AS (
     UPDATE packhouse.operator SET role = coalesce($2, role), password = coalesce($3, password)
     WHERE name = $1 RETURNING *
   ), ended AS (
     DELETE FROM packhouse.operator_secret AS s USING changed AS c WHERE s.operator_id = c.id
   )
   SELECT ${OPERATOR} FROM changed`,
);

/** $1 name. */
const deleteOperator = statement(
  'operators/delete-operator',
  `DELETE FROM packhouse.operator WHERE name = $1 RETURNING ${OPERATOR}`,
);

/** $1 name. */
const selectOperator = statement(
  'operators/select-operator',
  `SELECT ${OPERATOR}, password FROM packhouse.operator WHERE name = $1`,
);

/**
 * $1 sha256, $2 kind, $3 operator or null, $4 key or null, $5 role, $6 label, $7 milliseconds, $8 hash of the password
 * that was checked, or null. A change of the password that runs meanwhile is waited for.
 */
const insertSecret = statement(
  'operators/insert-secret',
  `WITH same AS (SELECT id FROM packhouse.operator WHERE id = $3 AND password = $8 FOR SHARE)
   INSERT INTO packhouse.operator_secret (sha256, kind, operator_id, key_id, role, label, expires_at)
   SELECT $1, $2, $3, $4, $5, $6, clock_timestamp() + $7::float8 * interval '1 millisecond'
   WHERE $8::text IS NULL OR EXISTS (SELECT FROM same) RETURNING 1`,
);

/** A role by how much it may. */
const RANK = (role: string): string =>
  `array_position(ARRAY['owner', 'viewer', 'operator', 'admin'], ${role})`;
const HOLDER = `s.kind, coalesce(o.name, k.prefix) AS name,
     CASE WHEN o.id IS NOT NULL AND ${RANK('o.role')} < ${RANK('s.role')} THEN o.role ELSE s.role END AS role,
     s.operator_id AS "operatorId", s.key_id AS "keyId", s.label, s.created_at AS "createdAt", s.expires_at AS "expiresAt"`;
const HOLDERS = `LEFT JOIN packhouse.operator AS o ON o.id = s.operator_id
   LEFT JOIN packhouse.api_key AS k ON k.id = s.key_id`;

/** $1 sha256 of several. A key that was revoked or has ended signs nobody in any more. */
const selectHolders = statement(
  'operators/select-holders',
  `SELECT encode(s.sha256, 'hex') AS sha256, ${HOLDER} FROM packhouse.operator_secret AS s ${HOLDERS}
   WHERE s.sha256 = ANY ($1::bytea[]) AND s.kind <> 'link' AND s.expires_at > clock_timestamp()
     AND k.revoked_at IS NULL AND coalesce(k.expires_at > clock_timestamp(), true)`,
);

/** $1 sha256. */
const takeLink = statement(
  'operators/take-link',
  `WITH s AS (
     DELETE FROM packhouse.operator_secret
     WHERE sha256 = $1 AND kind = 'link' AND expires_at > clock_timestamp() RETURNING *
   )
   SELECT ${HOLDER} FROM s ${HOLDERS}`,
);

/** $1 sha256. */
const deleteSecret = statement(
  'operators/delete-secret',
  'DELETE FROM packhouse.operator_secret WHERE sha256 = $1 RETURNING 1',
);

const selectSecrets = statement(
  'operators/select-secrets',
  `SELECT ${HOLDER} FROM packhouse.operator_secret AS s ${HOLDERS}
   WHERE s.kind <> 'link' AND s.operator_id IS NOT NULL AND s.expires_at > clock_timestamp()
   ORDER BY s.created_at DESC LIMIT 1000`,
);

/** $1 name, $2 label. */
const deleteTokens = statement(
  'operators/delete-tokens',
  `DELETE FROM packhouse.operator_secret AS s USING packhouse.operator AS o
   WHERE o.id = s.operator_id AND o.name = $1 AND s.label = $2 AND s.kind = 'token' RETURNING 1`,
);

/** How long failures count, and how many are free. After them each one doubles the wait, up to this time. */
const FAILURES_COUNT = `interval '15 minutes'`;
const FREE_FAILURES = 5;
const LONGEST_LOCK_MS = 900_000;
/** Milliseconds until the subject of row `f` may try again. */
const LOCK_MS = `(extract(epoch FROM f.last_at - clock_timestamp()) * 1000
     + least(${LONGEST_LOCK_MS}, 1000 * 2 ^ least(f.failures - ${FREE_FAILURES}, 20)))`;
const LOCKED = `f.failures >= ${FREE_FAILURES} AND ${LOCK_MS} > 0`;

/** $1 subjects. */
const upsertFailures = statement(
  'operators/upsert-failures',
  `INSERT INTO packhouse.sign_in_failure AS f (subject, failures, last_at)
   SELECT s, 1, clock_timestamp() FROM unnest($1::text[]) AS s ORDER BY s
   ON CONFLICT (subject) DO UPDATE SET last_at = excluded.last_at,
     failures = CASE WHEN f.last_at < clock_timestamp() - ${FAILURES_COUNT} THEN 1 ELSE least(f.failures + 1, 1000) END
   WHERE NOT (${LOCKED}) RETURNING 1`,
);

/** $1 subjects. */
const selectLock = statement(
  'operators/select-lock',
  `SELECT coalesce(max(${LOCK_MS}), 0)::float8 AS ms
   FROM packhouse.sign_in_failure AS f WHERE f.subject = ANY ($1::text[]) AND ${LOCKED}`,
);

/** $1 subjects. */
const deleteFailures = statement(
  'operators/delete-failures',
  'DELETE FROM packhouse.sign_in_failure WHERE subject = ANY ($1::text[])',
);

/** Sessions of an operator or of a key at a time. */
const MOST_SESSIONS = 50;

/** $1 operator or null, $2 key or null: his oldest sessions beyond the most, and all that has expired. */
const sweepSecrets = statement(
  'operators/sweep-secrets',
  `DELETE FROM packhouse.operator_secret WHERE sha256 IN (
     SELECT sha256 FROM packhouse.operator_secret WHERE expires_at < clock_timestamp()
     UNION ALL
     (SELECT sha256 FROM packhouse.operator_secret
      WHERE kind = 'session' AND (operator_id = $1 OR key_id = $2)
      ORDER BY created_at DESC, sha256 OFFSET ${MOST_SESSIONS}))`,
);
const sweepFailures = statement(
  'operators/sweep-failures',
  `DELETE FROM packhouse.sign_in_failure WHERE subject IN (
     SELECT subject FROM packhouse.sign_in_failure WHERE last_at < clock_timestamp() - ${FAILURES_COUNT}
     LIMIT 1000 FOR UPDATE SKIP LOCKED)`,
);

/** Who may use the console. */
export function createOperators(connections: Connections): Database['operators'] {
  const first = async (text: ReturnType<typeof statement>, values: unknown[]): Promise<OperatorRow | null> =>
    (await connections.query<OperatorRow>(text, values))[0] ?? null;
  return {
    add: ({ name, role, password }) => first(insertOperator, [name, role, password]),
    list: () => connections.query<OperatorRow>(selectOperators, []),
    set: (name, { role, password }) => first(updateOperator, [name, role ?? null, password ?? null]),
    remove: (name) => first(deleteOperator, [name]),
    find: async (name) => {
      const [row] = await connections.query<OperatorRow & { password: string | null }>(selectOperator, [
        name,
      ]);
      if (row === undefined) return null;
      const { password, ...operator } = row;
      return { operator, password };
    },
    keep: async ({ sha256, kind, operatorId, keyId, role, label = '', forMs, password = null }) => {
      const values = [sha256, kind, operatorId, keyId, role, label, forMs, password];
      const kept = await connections.query(insertSecret, values);
      await connections.query(sweepSecrets, [operatorId, keyId]);
      return kept.length > 0;
    },
    holders: async (sha256s) => {
      const rows = await connections.query<SecretHolder & { sha256: string }>(selectHolders, [sha256s]);
      const found = new Map(rows.map(({ sha256, ...holder }) => [sha256, holder]));
      return sha256s.map((sha256) => found.get(sha256.toString('hex')) ?? null);
    },
    takeLink: async (sha256) => (await connections.query<SecretHolder>(takeLink, [sha256]))[0] ?? null,
    drop: async (sha256) => (await connections.query(deleteSecret, [sha256])).length > 0,
    secrets: () => connections.query<SecretHolder>(selectSecrets, []),
    dropTokens: async (name, label) => (await connections.query(deleteTokens, [name, label])).length,
    attempt: async (subjects) => {
      const counted = await connections.query(upsertFailures, [subjects]);
      await connections.query(sweepFailures, []);
      return counted.length === subjects.length;
    },
    lockedMs: async (subjects) => {
      const [row] = await connections.query<{ ms: number }>(selectLock, [subjects]);
      return Math.max(0, Math.ceil(row?.ms ?? 0));
    },
    succeeded: async (subjects) => void (await connections.query(deleteFailures, [subjects])),
  };
}
