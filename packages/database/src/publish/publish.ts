import type { BlockRange } from '@packhouse/chain';
import type { Signer } from '@packhouse/manifest';
import { PackhouseError } from '@packhouse/runtime';
import pg from 'pg';
import { kindCode } from '../connection/codes.js';
import { type Connections, statement } from '../connection/connections.js';
import { type Named, type NewBundle, publishedRanges } from '../tables/published/bundles.js';
import { readTip, type Tip } from '../tables/published/log-tip.js';
import {
  type Appended,
  appendEntry,
  behindEntry,
  checkRewound,
  sealBehind,
  tipBehind,
} from './append-entry.js';
import { bundleValues, checkCover, INSERT_FILTER, insertBundle, lockKind } from './insert-bundle.js';
import type { OriginIds } from './origins.js';

/**
 * The parameters of insert-bundle, and $20 sequence, $21 origin, $22 key, $23 hash, $24 signature, $25 hash of the entry
 * before: inserts the row and its entry at once, after the tip that this process remembers. Inserts nothing if the key
 * is no longer current, or if that entry is not there: a promoted standby or a backup may lack it.
 *
 * Entries never change, so the remembered tip is still valid otherwise. If another process appended after it, the
 * primary key of the manifest refuses this entry and the bundle with it. So one round trip is enough; reading the tip
 * under the lock takes six.
 */
const insertSealed = statement(
  'publish/insert-sealed',
  `WITH turn AS MATERIALIZED (
     SELECT pg_advisory_xact_lock(1347963648, $1::int4 * 8 + $2::int4),
       set_config('packhouse.sealed', 'yes', true)
     WHERE ${behindEntry({ networkId: '$1', kind: '$2', sequence: '$20', previous: '$25' })}
   ), key AS (
     SELECT id FROM packhouse.signing_key WHERE id = $22::int2 AND retired_at IS NULL
   ), ${INSERT_FILTER}, entry AS (
     INSERT INTO packhouse.manifest (network_id, kind, sequence, first_block, last_block, byte_length, raw_length,
       published_at, proofs, origin_id, version, key_id, sha256, first_hash, first_parent_hash, last_hash, hash,
       signature, not_proved, filter_bytes, filter_sha256)
     SELECT $1::int2, $2::int2, $20::int4, $3::int8, $4::int8, $5::int8, $6::int8, $16::timestamptz, $7::int4,
       $21::int4, $15::int2, key.id, $9::bytea, $10::bytea, $11::bytea, $12::bytea, $23::bytea, $24::bytea,
       $17::text, coalesce($18::int4, 0), coalesce($19::bytea, '')
     FROM turn, key
   )
   INSERT INTO packhouse.bundle (network_id, kind, first_block, last_block, byte_length, raw_length, proofs,
     format_version, sha256, first_hash, first_parent_hash, last_hash, object_key, fragments, version, published_at,
     not_proved)
   SELECT $1::int2, $2::int2, $3::int8, $4::int8, $5::int8, $6::int8, $7::int4, $8::int2, $9::bytea,
     $10::bytea, $11::bytea, $12::bytea, $13::text, $14::bytea, $15::int2, $16::timestamptz, $17::text
   FROM turn, key
   RETURNING first_block`,
);

const EXCLUSION_VIOLATION = '23P01';
const UNIQUE_VIOLATION = '23505';

/** How long a tip is remembered, in milliseconds, as the two clocks drift apart. */
const TIP_MS = 600_000;

/** Data for the manifest entry of a bundle, appended in the transaction that publishes it. */
export type Sealing = {
  /** Its key must be the database's current one. */
  signer: Signer;
  /** Clients of the upstreams that the blocks came from (web3_clientVersion). */
  clients: readonly string[];
};

export interface PublishTools {
  connections: Connections;
  origins: OriginIds;
  /** The end of each log when this process last appended to it, by network and kind. */
  tips: Map<string, RememberedTip>;
}

interface RememberedTip extends Tip {
  keyId: string;
  /** The time of its `now` on this process's monotonic clock, in milliseconds. */
  readAt: number;
}

/**
 * Inserts the index row of a bundle and, in the same transaction, appends its entry to the manifest; without `sealing`
 * the entry waits for `manifest.sealPending`. Throws BUNDLE_OVERLAP if another bundle covers one of its blocks,
 * BUNDLE_INVALID, SIGNING_KEY_CHANGED if the signer's key is not the current one, and once MANIFEST_REWOUND if the
 * database lost what this process appended.
 */
export async function publish(
  tools: PublishTools,
  networkId: number,
  bundle: Named<NewBundle>,
  sealing?: Sealing,
): Promise<void> {
  checkCover(bundle);
  try {
    if (sealing !== undefined) await publishSealed(tools, networkId, bundle, sealing);
    else
      await tools.connections.query(
        insertBundle,
        bundleValues(networkId, bundle, { version: 1, publishedAt: null }),
      );
  } catch (error) {
    throw isOverlap(error)
      ? overlapError(error, bundle, await publishedRanges(tools.connections, networkId, bundle.kind, bundle))
      : error;
  }
}

/**
 * Inserts a bundle and its entry: in one statement after the remembered tip or, if that is no longer the tip, in a
 * transaction that reads it under the kind's lock.
 */
async function publishSealed(
  tools: PublishTools,
  networkId: number,
  bundle: Named<NewBundle>,
  { signer, clients }: Sealing,
): Promise<void> {
  const origin = await tools.origins.get(signer.producer, clients);
  const log = `${networkId}/${bundle.kind}`;
  const append = { networkId, signer, origin };
  const remembered = tools.tips.get(log);
  // Removed until this insert succeeds: concurrent publishers must not use it meanwhile.
  tools.tips.delete(log);
  const fresh = remembered?.keyId === signer.keyId && performance.now() - remembered.readAt < TIP_MS;
  const tip =
    (fresh ? await publishBehind(tools, remembered, append, bundle) : null) ??
    (await publishUnderLock(tools, append, bundle, remembered));
  tools.tips.set(log, { ...tip, keyId: signer.keyId });
}

type Append = Omit<Appended, 'row'>;

/** Runs the one statement; null if it inserted nothing because the tip, the key or the log has changed. */
async function publishBehind(
  { connections }: PublishTools,
  tip: RememberedTip,
  append: Append,
  bundle: Named<NewBundle>,
): Promise<RememberedTip | null> {
  // The database's time, estimated by this process's clock: the entry is signed before it is sent.
  const publishedAt = new Date(Math.floor(tip.now.getTime() + performance.now() - tip.readAt));
  const first = { version: 1, publishedAt };
  const sealed = sealBehind(tip, { ...append, row: { ...bundle, ...first, supersedes: null } });
  try {
    const rows = await connections.query(insertSealed, [
      ...bundleValues(append.networkId, bundle, first),
      sealed.sequence,
      append.origin.id,
      tip.key,
      Buffer.from(sealed.hash, 'hex'),
      Buffer.from(sealed.signature, 'base64'),
      Buffer.from(tip.hash, 'hex'),
    ]);
    return rows.length === 0 ? null : { ...tip, ...tipBehind(tip, sealed) };
  } catch (error) {
    const { cause } = error as { cause?: unknown };
    const taken =
      cause instanceof pg.DatabaseError && cause.code === UNIQUE_VIOLATION && cause.table === 'manifest';
    if (taken) return null;
    throw error;
  }
}

function publishUnderLock(
  { connections }: PublishTools,
  append: Append,
  bundle: Named<NewBundle>,
  remembered: Tip | undefined,
): Promise<Tip & { readAt: number }> {
  const kind = kindCode(bundle.kind);
  return connections.transaction(async (session) => {
    await session.query(lockKind, [append.networkId, kind, 'yes']);
    const tip = await readTip(session, { networkId: append.networkId, kind }, append.signer);
    if (remembered !== undefined) await checkRewound(session, { ...append, ...bundle }, remembered, tip);
    const readAt = performance.now();
    const first = { version: 1, publishedAt: tip.now };
    await session.query(insertBundle, bundleValues(append.networkId, bundle, first));
    const row = { ...bundle, ...first, supersedes: null };
    return { ...(await appendEntry(session, tip, { ...append, row })), readAt };
  });
}

function isOverlap(error: unknown): boolean {
  const { cause } = error as { cause?: unknown };
  return (
    cause instanceof pg.DatabaseError &&
    cause.schema === 'packhouse' &&
    cause.table === 'bundle' &&
    (cause.code === EXCLUSION_VIOLATION || cause.code === UNIQUE_VIOLATION)
  );
}

function overlapError(
  cause: unknown,
  { network, kind, firstBlock, lastBlock }: Named<NewBundle>,
  published: readonly BlockRange[],
): PackhouseError {
  const names = published.map((range) => `${range.firstBlock}-${range.lastBlock}`).join(', ');
  return new PackhouseError({
    code: 'BUNDLE_OVERLAP',
    message: `Bundle ${firstBlock}-${lastBlock} (${kind} of ${network}) overlaps what is published: ${names}.`,
    hint: 'Another packer published these blocks: go on behind them.',
    data: { network, kind, from: firstBlock, to: lastBlock, published },
    cause,
  });
}
