import { statement } from '../connection/statement.js';

/**
 * The parameters of insert-bundle, and $17 sequence, $18 origin, $19 key, $20 hash, $21 signature: the row and its entry
 * at once, behind a tip that this process remembers. Inserts nothing where the key is not the current one any more.
 *
 * Entries never change, so the one before is what it was; where somebody appended another behind it, the primary key
 * of the manifest refuses this one and the bundle with it. So one round trip is enough, where reading the tip under
 * the lock takes six.
 */
export const insertSealed = statement(
  'bundles/insert-sealed',
  `WITH turn AS MATERIALIZED (
     SELECT pg_advisory_xact_lock(1347963648, $1::int4 * 8 + $2::int4),
       set_config('packhouse.sealed', 'yes', true)
   ), key AS (
     SELECT id FROM packhouse.signing_key WHERE id = $19::int2 AND retired_at IS NULL
   ), entry AS (
     INSERT INTO packhouse.manifest (network_id, kind, sequence, start_block, end_block, byte_length, raw_length,
       published_at, proofs, origin_id, version, key_id, sha256, first_hash, first_parent_hash, last_hash, hash,
       signature)
     SELECT $1::int2, $2::int2, $17::int4, $3::int8, $4::int8, $5::int8, $6::int8, $16::timestamptz, $7::int4,
       $18::int4, $15::int2, key.id, $9::bytea, $10::bytea, $11::bytea, $12::bytea, $20::bytea, $21::bytea
     FROM turn, key
   )
   INSERT INTO packhouse.bundle (network_id, kind, start_block, end_block, byte_length, raw_length, proofs,
     format_version, sha256, first_hash, first_parent_hash, last_hash, object_key, fragments, version, published_at)
   SELECT $1::int2, $2::int2, $3::int8, $4::int8, $5::int8, $6::int8, $7::int4, $8::int2, $9::bytea,
     $10::bytea, $11::bytea, $12::bytea, $13::text, $14::bytea, $15::int2, $16::timestamptz
   FROM turn, key
   RETURNING start_block`,
);
