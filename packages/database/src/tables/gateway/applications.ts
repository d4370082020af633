import { type Connections, statement } from '../../connection/connections.js';
import type { KeyRow } from './keys.js';

/** What API keys belong to, with what its keys say. */
export interface ListedApplication {
  id: number;
  /** Unique: spending and NFT jobs are kept by it. It does not change. */
  name: string;
  /** The account that manages it; null: operators alone. */
  owner: string | null;
  description: string;
  /** Whom operators ask: an address, a channel, a team. */
  contact: string;
  createdAt: Date;
  /** Since when it has no keys that work, and gets none; null: it is in use. */
  archivedAt: Date | null;
  /** Keys that are neither revoked nor expired. */
  liveKeys: number;
  /** The newest of these, by prefix: three at most. */
  prefixes: readonly string[];
  /** When a gateway last counted a request of any of its keys; null: never, or before the usage that is kept. */
  lastUsedAt: Date | null;
}

/** What is changed of an application. */
export type ApplicationTerms = Pick<ListedApplication, 'owner' | 'description' | 'contact'>;

/** Restrictions of keys; those that are not given stay. */
type GivenRestrictions = {
  [K in 'origins' | 'addresses' | 'methods' | 'contracts' | 'maxLogRange']?: KeyRow[K] | undefined;
};

/** A key of an application, as far as sums and logs need it. */
type ApplicationKey = Pick<KeyRow, 'id' | 'prefix' | 'loggedUntil' | 'revokedAt'>;

const OWNER = '(SELECT o.name FROM packhouse.operator AS o WHERE o.id = a.owner_id)';

/** A ListedApplication, from application a: its keys by index, the last day of each by one walk down its primary key. */
const LISTED = `SELECT a.id, a.name, ${OWNER} AS owner, a.description, a.contact, a.created_at AS "createdAt",
     a.archived_at AS "archivedAt", k.live AS "liveKeys", coalesce(k.prefixes, '{}') AS prefixes,
     k.last_at AS "lastUsedAt"`;
const KEYS = `CROSS JOIN LATERAL (
     SELECT (count(*) FILTER (WHERE of.is_live))::int4 AS live, max(of.last_at) AS last_at,
       (array_agg(of.prefix ORDER BY of.id DESC) FILTER (WHERE of.is_live))[1:3] AS prefixes
     FROM (
       SELECT k.id, k.prefix, k.revoked_at IS NULL AND coalesce(k.expires_at > clock_timestamp(), true) AS is_live,
         (SELECT u.last_at FROM packhouse.key_usage AS u WHERE u.key_id = k.id ORDER BY u.day DESC LIMIT 1) AS last_at
       FROM packhouse.api_key AS k WHERE k.application_id = a.id
     ) AS of
   ) AS k`;

/**
 * $1 part of the name, or beginning of the prefix of a key, or null; $2 name of the owner or null for all; $3 whether
 * archived ones are listed too; $4 id to begin after; $5 limit. Keys are looked at for the page only.
 */
const selectApplications = statement(
  'applications/select-applications',
  `${LISTED}
   FROM (
     SELECT * FROM packhouse.application AS a
     WHERE a.id > $4::int8 AND ($3::bool OR a.archived_at IS NULL)
       AND ($2::text IS NULL OR a.owner_id = (SELECT o.id FROM packhouse.operator AS o WHERE o.name = $2))
       AND ($1::text IS NULL OR strpos(lower(a.name), lower($1)) > 0 OR EXISTS (
         SELECT FROM packhouse.api_key AS k WHERE k.application_id = a.id AND starts_with(k.prefix, $1)))
     ORDER BY a.id LIMIT $5::int8
   ) AS a
   ${KEYS}
   ORDER BY a.id`,
);

/** $1 id or null, $2 name. */
const selectNamed = statement(
  'applications/select-named',
  `${LISTED} FROM packhouse.application AS a ${KEYS}
   WHERE a.id = coalesce($1::int8, (SELECT n.id FROM packhouse.application AS n WHERE n.name = $2::text))`,
);

/** $1 name, $2 name of the owner or null, $3 description, $4 contact. No row if the name is taken. */
const insertApplication = statement(
  'applications/insert-application',
  `INSERT INTO packhouse.application (name, owner_id, description, contact)
   VALUES ($1, (SELECT id FROM packhouse.operator WHERE name = $2::text), $3, $4)
   ON CONFLICT (name) DO NOTHING RETURNING id`,
);

/** $1 id. Nobody else changes it before the transaction ends, and no key is created. */
const lockApplication = statement(
  'applications/lock-application',
  'SELECT FROM packhouse.application WHERE id = $1::int8 FOR UPDATE',
);

/** $1 id, $2 name of the owner or null, $3 description, $4 contact. */
const updateTerms = statement(
  'applications/update-terms',
  `UPDATE packhouse.application SET owner_id = (SELECT id FROM packhouse.operator WHERE name = $2::text),
     description = $3, contact = $4 WHERE id = $1::int8`,
);

/** $1 id, $2 whether it is archived. One that is archived already keeps its date. */
const updateArchived = statement(
  'applications/update-archived',
  `UPDATE packhouse.application
   SET archived_at = CASE WHEN $2::bool THEN coalesce(archived_at, clock_timestamp()) END WHERE id = $1::int8`,
);

/** $1 application. */
const revokeKeys = statement(
  'applications/revoke-keys',
  `UPDATE packhouse.api_key SET revoked_at = now()
   WHERE application_id = $1::int8 AND revoked_at IS NULL RETURNING prefix`,
);

/** $1 application, $2 origins, $3 addresses, $4 methods, $5 contracts: null stays; $6 whether $7, blocks of logs, is set. */
const updateRestrictions = statement(
  'applications/update-restrictions',
  `UPDATE packhouse.api_key SET origins = coalesce($2::text[], origins), addresses = coalesce($3::text[], addresses),
     methods = coalesce($4::text[], methods), contracts = coalesce($5::text[], contracts),
     max_log_range = CASE WHEN $6::bool THEN $7::int8 ELSE max_log_range END
   WHERE application_id = $1::int8 AND revoked_at IS NULL RETURNING prefix, plan`,
);

/** $1 application. */
const selectKeys = statement(
  'applications/select-keys',
  `SELECT id, prefix, logged_until AS "loggedUntil", revoked_at AS "revokedAt"
   FROM packhouse.api_key WHERE application_id = $1::int8 ORDER BY id`,
);

/** Applications: what keys belong to, and are changed by together. */
export function createApplications(connections: Connections) {
  const byId = (session: Pick<Connections, 'queryOne'>, id: number) =>
    session.queryOne<ListedApplication>(selectNamed, [id, null]);
  return {
    /** Oldest first, after this id; `search` is part of the name, or the beginning of the prefix of a key. */
    list: ({
      search,
      owner,
      archived = false,
      after = 0,
      limit,
    }: {
      search?: string | undefined;
      owner?: string | undefined;
      archived?: boolean;
      after?: number | undefined;
      limit: number;
    }) =>
      connections.query<ListedApplication>(selectApplications, [
        search ?? null,
        owner ?? null,
        archived,
        after,
        limit,
      ]),
    /** By name; null if there is none. */
    named: (name: string) => connections.queryOne<ListedApplication>(selectNamed, [null, name]),
    /** Creates one; null if the name is taken. */
    async add(given: Pick<ListedApplication, 'name'> & ApplicationTerms): Promise<ListedApplication | null> {
      const { name, owner, description, contact } = given;
      const made = await connections.queryOne<{ id: number }>(insertApplication, [
        name,
        owner,
        description,
        contact,
      ]);
      return made && byId(connections, made.id);
    },
    /**
     * Changes one to what `work` returns for what it is, one change after the other; null if there is none. Throws what
     * `work` throws.
     */
    change: (id: number, work: (before: ListedApplication) => ApplicationTerms) =>
      connections.transaction(async (session) => {
        await session.query(lockApplication, [id]);
        const before = await byId(session, id);
        if (before === null) return null;
        const { owner, description, contact } = work(before);
        await session.query(updateTerms, [id, owner, description, contact]);
        return byId(session, id);
      }),
    /** Archives one and revokes its keys; returns their prefixes. */
    archive: (id: number) =>
      connections.transaction(async (session) => {
        await session.query(updateArchived, [id, true]);
        const revoked = await session.query<{ prefix: string }>(revokeKeys, [id]);
        return revoked.map(({ prefix }) => prefix);
      }),
    /** Takes it back into use; its keys stay revoked. */
    restore: async (id: number) => void (await connections.query(updateArchived, [id, false])),
    /** Restricts all keys that are not revoked, in one transaction. Throws what `check` throws for their plans. */
    restrict: (id: number, given: GivenRestrictions, check: (plans: ReadonlySet<string>) => void) =>
      connections.transaction(async (session) => {
        await session.query(lockApplication, [id]);
        const { origins = null, addresses = null, methods = null, contracts = null, maxLogRange } = given;
        const lists = [origins, addresses, methods, contracts];
        const range = [maxLogRange !== undefined, maxLogRange ?? null];
        const changed = await session.query<{ prefix: string; plan: string }>(updateRestrictions, [
          id,
          ...lists,
          ...range,
        ]);
        check(new Set(changed.map(({ plan }) => plan)));
        return changed.map(({ prefix }) => prefix);
      }),
    /** All keys, revoked ones too, the oldest first. */
    keys: (id: number) => connections.query<ApplicationKey>(selectKeys, [id]),
  };
}
