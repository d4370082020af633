import { encodeFragmentTable } from '@packhouse/bundle';
import { PackhouseError } from '@packhouse/runtime';
import { hashBytes, kindCode, notProvedText, proofsMask } from '../connection/codes.js';
import { statement } from '../connection/connections.js';
import type { Named, NewBundle } from '../tables/published/bundles.js';

/** A part of `insertBundle` and what is like it: a part that writes runs whether or not it is read. */
export const INSERT_FILTER = `filter AS (
     INSERT INTO packhouse.bundle_filter (network_id, kind, first_block, version, bundle_sha256, byte_length, sha256)
     SELECT $1::int2, $2::int2, $3::int8, $15::int2, $9::bytea, $18::int4, $19::bytea
     FROM turn
     WHERE $18::int4 IS NOT NULL
     ON CONFLICT (network_id, kind, first_block, version) DO UPDATE SET
       bundle_sha256 = excluded.bundle_sha256, byte_length = excluded.byte_length, sha256 = excluded.sha256
   )`;

/**
 * $1 network id, $2 kind, $3 first block, $4 last block, $5 bytes, $6 raw bytes, $7 proofs (mask), $8 format version,
 * $9 sha256, $10 first hash, $11 first parent hash, $12 last hash, $13 object key, $14 fragment table, $15 version,
 * $16 time (null: now), $17 text of what is not proved, $18 bytes and $19 sha256 of the filter (null: none).
 *
 * The lock is taken before the insert. Without it two publishers of overlapping ranges insert first and then wait for
 * each other, and Postgres needs a second to report the deadlock. They would wait for the row of `published` anyway.
 */
export const insertBundle = statement(
  'publish/insert-bundle',
  `WITH turn AS MATERIALIZED (SELECT pg_advisory_xact_lock(1347963648, $1::int4 * 8 + $2::int4)),
   ${INSERT_FILTER}
   INSERT INTO packhouse.bundle (network_id, kind, first_block, last_block, byte_length, raw_length, proofs,
     format_version, sha256, first_hash, first_parent_hash, last_hash, object_key, fragments, version, published_at,
     not_proved)
   SELECT $1::int2, $2::int2, $3::int8, $4::int8, $5::int8, $6::int8, $7::int4, $8::int2, $9::bytea,
     $10::bytea, $11::bytea, $12::bytea, $13::text, $14::bytea, $15::int2, coalesce($16::timestamptz, now()),
     $17::text
   FROM turn`,
);

/** The values of `insertBundle`. */
export function bundleValues(
  networkId: number,
  bundle: Named<NewBundle>,
  { version, publishedAt }: { version: number; publishedAt: Date | null },
): unknown[] {
  return [
    networkId,
    kindCode(bundle.kind),
    bundle.firstBlock,
    bundle.lastBlock,
    bundle.byteLength,
    bundle.rawLength,
    proofsMask(bundle.proofs),
    bundle.formatVersion,
    Buffer.from(bundle.sha256, 'hex'),
    hashBytes(bundle.firstHash),
    hashBytes(bundle.firstParentHash),
    hashBytes(bundle.lastHash),
    bundle.objectKey,
    encodeFragmentTable(bundle.fragments),
    version,
    publishedAt,
    notProvedText(bundle.notProved),
    bundle.filter?.bytes ?? null,
    bundle.filter === undefined ? null : Buffer.from(bundle.filter.sha256, 'hex'),
  ];
}

/**
 * $1 network id, $2 kind, $3 `yes` if the transaction appends the bundle's entry itself: the lock of all publishers
 * of this kind (the same as in insert-bundle), until the end of the transaction.
 *
 * A separate statement, so that the snapshot of the next one is taken under the lock and sees earlier commits.
 */
export const lockKind = statement(
  'publish/lock-kind',
  `SELECT pg_advisory_xact_lock(1347963648, $1::int4 * 8 + $2::int4),
     set_config('packhouse.sealed', $3::text, true)`,
);

/** Throws BUNDLE_INVALID if the fragments are not those of the range. */
export function checkCover({ network, kind, firstBlock, lastBlock, fragments }: Named<NewBundle>): void {
  if (fragments[0]?.firstBlock === firstBlock && fragments.at(-1)?.lastBlock === lastBlock) return;
  throw new PackhouseError({
    code: 'BUNDLE_INVALID',
    message: `The fragments of bundle ${firstBlock}-${lastBlock} (${kind} of ${network}) do not cover it.`,
    data: { network, kind, from: firstBlock, to: lastBlock },
  });
}
