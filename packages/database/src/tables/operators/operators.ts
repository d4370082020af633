import { randomBytes } from 'node:crypto';
import { type Connections, statement } from '../../connection/connections.js';

/** An operator of an installation. */
export interface OperatorRow {
  id: number;
  name: string;
  role: OperatorRole;
  hasPassword: boolean;
  /** Whether an OIDC provider signs in this operator, and decides on the role. */
  isOidc: boolean;
  createdAt: Date;
}

/** `owner`: sees and manages the applications that it owns, and nothing else. */
export type OperatorRole = 'owner' | 'viewer' | 'operator' | 'admin';

/** What signs somebody in: a link for one use, the session of a browser, or the token of a program. */
type SecretKind = 'link' | 'session' | 'token';

/** Who holds a secret: an operator, or the holder of an API key (role `owner`), who sees his own usage only. */
export interface SecretHolder {
  kind: SecretKind;
  /** The operator's name, or the prefix of the key. */
  name: string;
  role: OperatorRole;
  operatorId: number | null;
  keyId: number | null;
  label: string;
  createdAt: Date;
  expiresAt: Date;
}

/** Who holds a session or a token. */
export interface SessionHolder extends SecretHolder {
  /** The addresses that the key may be used from; empty: all. */
  addresses: readonly string[];
}

const OPERATOR = `id, name, role, password IS NOT NULL AS "hasPassword", subject IS NOT NULL AS "isOidc",
     created_at AS "createdAt"`;

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
  `SELECT encode(s.sha256, 'hex') AS sha256, coalesce(k.addresses, '{}') AS addresses, ${HOLDER}
   FROM packhouse.operator_secret AS s ${HOLDERS}
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

/** $1 a new seal. */
const insertSeal = statement(
  'operators/insert-seal',
  'INSERT INTO packhouse.secret_seal (seal) VALUES ($1) ON CONFLICT DO NOTHING',
);
const selectSeal = statement('operators/select-seal', 'SELECT seal FROM packhouse.secret_seal');

/** How long failures count, and how many are free. After them each one doubles the wait, up to this time. */
const FAILURES_COUNT = `interval '15 minutes'`;
const FREE_FAILURES = 5;
const MAX_LOCK_MS = 900_000;
/** Milliseconds until the subject of row `f` may try again. */
const LOCK_MS = `(extract(epoch FROM f.last_at - clock_timestamp()) * 1000
     + least(${MAX_LOCK_MS}, 1000 * 2 ^ least(f.failures - ${FREE_FAILURES}, 20)))`;
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
const MAX_SESSIONS = 50;

/** $1 operator or null, $2 key or null: his oldest sessions beyond the most, and all that has expired. */
const sweepSecrets = statement(
  'operators/sweep-secrets',
  `DELETE FROM packhouse.operator_secret WHERE sha256 IN (
     SELECT sha256 FROM packhouse.operator_secret WHERE expires_at < clock_timestamp()
     UNION ALL
     (SELECT sha256 FROM packhouse.operator_secret
      WHERE kind = 'session' AND (operator_id = $1 OR key_id = $2)
      ORDER BY created_at DESC, sha256 OFFSET ${MAX_SESSIONS}))`,
);
const sweepFailures = statement(
  'operators/sweep-failures',
  `DELETE FROM packhouse.sign_in_failure WHERE subject IN (
     SELECT subject FROM packhouse.sign_in_failure WHERE last_at < clock_timestamp() - ${FAILURES_COUNT}
     LIMIT 1000 FOR UPDATE SKIP LOCKED)`,
);

/** Operators and what they sign in with. Secrets are known by their SHA-256 alone. */
export function createOperators(connections: Connections) {
  return {
    /** The key that all secrets are sealed with; the first caller makes it. */
    async seal(): Promise<Buffer> {
      await connections.query(insertSeal, [randomBytes(32)]);
      return (await connections.queryOne<{ seal: Buffer }>(selectSeal, []))?.seal as Buffer;
    },
    /** Makes an operator, or null if the name is taken. `password` is a hash in PHC form. */
    add: ({ name, role, password }: { name: string; role: OperatorRole; password: string | null }) =>
      connections.queryOne<OperatorRow>(insertOperator, [name, role, password]),
    list: () => connections.query<OperatorRow>(selectOperators, []),
    /** Changes what is given, and ends all sessions and tokens of the operator. Null if there is none. */
    set: (name: string, { role, password }: { role?: OperatorRole; password?: string }) =>
      connections.queryOne<OperatorRow>(updateOperator, [name, role ?? null, password ?? null]),
    /** Removes an operator with all secrets. Null if there is none. */
    remove: (name: string) => connections.queryOne<OperatorRow>(deleteOperator, [name]),
    /** The operator and the hash of the password; null if there is none. */
    async find(name: string): Promise<{ operator: OperatorRow; password: string | null } | null> {
      type Row = OperatorRow & { password: string | null };
      const row = await connections.queryOne<Row>(selectOperator, [name]);
      if (row === null) return null;
      const { password, ...operator } = row;
      return { operator, password };
    },

    /**
     * Keeps a secret of an operator (by id) or of a key for so many milliseconds. The role is at most the operator's. Of
     * the sessions of one holder the newest are kept. With `password`, the hash that was checked, returns false if the
     * operator has another one by now, and keeps nothing.
     */
    async keep(
      secret: Pick<SecretHolder, 'kind' | 'operatorId' | 'keyId' | 'role'> & {
        sha256: Buffer;
        label?: string;
        forMs: number;
        password?: string | null;
      },
    ): Promise<boolean> {
      const { sha256, kind, operatorId, keyId, role, label = '', forMs, password = null } = secret;
      const values = [sha256, kind, operatorId, keyId, role, label, forMs, password];
      const kept = await connections.query(insertSecret, values);
      await connections.query(sweepSecrets, [operatorId, keyId]);
      return kept.length > 0;
    },
    /** The holder of each session or token that has not expired; null: there is none. The role is at most the operator's. */
    async holders(sha256s: readonly Buffer[]): Promise<(SessionHolder | null)[]> {
      const rows = await connections.query<SessionHolder & { sha256: string }>(selectHolders, [sha256s]);
      const found = new Map(rows.map(({ sha256, ...holder }) => [sha256, holder]));
      return sha256s.map((sha256) => found.get(sha256.toString('hex')) ?? null);
    },
    /** Takes a link that has not expired: of concurrent callers one gets it. */
    takeLink: (sha256: Buffer) => connections.queryOne<SecretHolder>(takeLink, [sha256]),
    /** Returns false if there is no such secret. */
    drop: async (sha256: Buffer) => (await connections.query(deleteSecret, [sha256])).length > 0,
    /** Tokens and sessions of all operators that have not expired, newest first. */
    secrets: () => connections.query<SecretHolder>(selectSecrets, []),
    /** Drops the tokens of this label of an operator; returns their number. */
    dropTokens: async (name: string, label: string) =>
      (await connections.query(deleteTokens, [name, label])).length,

    /**
     * Counts an attempt as failed for each subject, before it is known whether it is; those of more than a quarter of an
     * hour ago do not count. Returns false if one of them must wait: of concurrent attempts no more than the free ones pass.
     */
    async attempt(subjects: readonly string[]): Promise<boolean> {
      const counted = await connections.query(upsertFailures, [subjects]);
      await connections.query(sweepFailures, []);
      return counted.length === subjects.length;
    },
    /** Milliseconds until one of these subjects may try again; 0: now. */
    lockedMs: async (subjects: readonly string[]) =>
      Math.max(0, Math.ceil((await connections.queryOne<{ ms: number }>(selectLock, [subjects]))?.ms ?? 0)),
    /** Forgets the attempts of these subjects. */
    succeeded: async (subjects: readonly string[]) =>
      void (await connections.query(deleteFailures, [subjects])),
  };
}
