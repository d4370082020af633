import { type Connections, statement } from '../../connection/connections.js';

/** A request of a key whose log is on: never its address or the key. */
export interface KeyRequest {
  at: Date;
  network: string;
  /** A method or a route; of a batch up to ten, separated by spaces. */
  method: string;
  /** More than one only in a batch; 0: it was no call. */
  calls: number;
  status: number;
  /** `ok`, `aborted`, why it was refused, or the JSON-RPC codes of what failed. */
  outcome: string;
  ms: number;
  units: number;
  bytes: number;
  /** Requests before this one that its gateway left out, as there were too many. */
  leftOut: number;
  /** Of its calls, as JSON that is cut, without secrets; null: nobody asked for them. */
  params: string | null;
}

/** Requests that are kept of a key. */
const MAX_KEPT = 1_000;

/** $1 requests, as JSON. What the statement inserts is deleted by a later one only. */
const insertRequests = statement(
  'key-requests/insert',
  `WITH given AS MATERIALIZED (
     SELECT * FROM jsonb_to_recordset($1::jsonb) AS r ("keyId" int8, at timestamptz, network text, method text, calls int4,
       status int2, outcome text, ms float8, units int8, bytes int8, "leftOut" int4, params text)
   ), old AS (
     DELETE FROM packhouse.key_request WHERE at < clock_timestamp() - interval '1 day'
   ), beyond AS (
     DELETE FROM packhouse.key_request AS r USING (SELECT DISTINCT "keyId" AS key_id FROM given) AS k
     WHERE r.key_id = k.key_id AND r.id <= (
       SELECT id FROM packhouse.key_request WHERE key_id = k.key_id ORDER BY id DESC OFFSET ${MAX_KEPT} LIMIT 1)
   )
   INSERT INTO packhouse.key_request
     (key_id, at, network, method, calls, status, outcome, ms, units, bytes, left_out, params)
   SELECT "keyId", at, network, method, calls, status, outcome, ms, units, bytes, "leftOut", params FROM given`,
);

/** $1 keys, $2 limit. Of each key a range of the primary key, from its end. */
const selectRequests = statement(
  'key-requests/select',
  `SELECT r.id, k.prefix, r.at, r.network, r.method, r.calls, r.status, r.outcome, r.ms, r.units, r.bytes,
     r.left_out AS "leftOut", r.params
   FROM unnest($1::int8[]) AS given (id)
   CROSS JOIN LATERAL (
     SELECT * FROM packhouse.key_request WHERE key_id = given.id ORDER BY id DESC LIMIT $2::int8) AS r
   LEFT JOIN packhouse.api_key AS k ON k.id = given.id
   ORDER BY r.id DESC LIMIT $2::int8`,
);

/** $1 keys, $2 minutes; 0: none; $3 whether with parameters. Keys that are revoked have no requests. */
const updateLogged = statement(
  'key-requests/update-logged',
  `UPDATE packhouse.api_key
   SET logged_until = given.until, params_until = CASE WHEN $3::bool THEN given.until END
   FROM (SELECT CASE WHEN $2::int4 > 0 THEN clock_timestamp() + $2::int4 * interval '1 minute' END AS until) AS given
   WHERE id = ANY ($1::int8[]) AND revoked_at IS NULL RETURNING logged_until AS "loggedUntil"`,
);

/** The requests of keys whose log is on. */
export function createKeyRequests(connections: Connections) {
  return {
    add: async (requests: readonly (KeyRequest & { keyId: number })[]) =>
      void (await connections.query(insertRequests, [JSON.stringify(requests)])),
    /** Of these keys, the newest first; of each 1,000 and what came since are kept. `prefix` names the key. */
    list: (keyIds: readonly number[], limit: number) =>
      connections.query<KeyRequest & { id: number; prefix: string }>(selectRequests, [keyIds, limit]),
    /** Turns the log of keys on for so many minutes, or off; returns until when it is on. */
    log: async (keyIds: readonly number[], minutes: number, params = false) =>
      (await connections.query<{ loggedUntil: Date | null }>(updateLogged, [keyIds, minutes, params]))[0]
        ?.loggedUntil ?? null,
  };
}
