import type { Kind } from '@packhouse/chain';
import type { SealedEntry, Signer } from '@packhouse/manifest';
import { PackhouseError } from '@packhouse/runtime';
import { getProofs, hashBytes, hashText, kindCode, notProvedText, proofsMask } from '../connection/codes.js';
import { type Session, statement } from '../connection/connections.js';
import type { BundleRow, NewBundle } from '../tables/published/bundles.js';
import type { Tip } from '../tables/published/log-tip.js';
import type { Origin } from './origins.js';

/** The condition, of parameters, that an entry of a sequence is the first or follows an entry with the hash `previous`. */
export function behindEntry(of: Record<'networkId' | 'kind' | 'sequence' | 'previous', string>): string {
  return `(${of.sequence}::int4 = 0 OR EXISTS (
       SELECT FROM packhouse.manifest
       WHERE network_id = ${of.networkId}::int2 AND kind = ${of.kind}::int2 AND sequence = ${of.sequence}::int4 - 1
         AND hash = ${of.previous}::bytea))`;
}

/**
 * $1 network id, $2 kind, $3 sequence, $4 first block, $5 last block, $6 bytes, $7 raw bytes, $8 published at, $9 proofs (mask),
 * $10 origin, $11 version, $12 key, $13 sha256, $14 first hash, $15 first parent hash, $16 last hash, $17 hash,
 * $18 signature, $19 sha256 of what it supersedes (empty: nothing), $20 text of what is not proved, $21 bytes (0: none)
 * and $22 sha256 of the filter, $23 hash of the entry before: inserts nothing if that is not there.
 */
const insertEntry = statement(
  'publish/insert-entry',
  `INSERT INTO packhouse.manifest (network_id, kind, sequence, first_block, last_block, byte_length, raw_length,
     published_at, proofs, origin_id, version, key_id, sha256, first_hash, first_parent_hash, last_hash, hash,
     signature, supersedes, not_proved, filter_bytes, filter_sha256)
   SELECT $1::int2, $2::int2, $3::int4, $4::int8, $5::int8, $6::int8, $7::int8, $8::timestamptz, $9::int4, $10::int4,
     $11::int2, $12::int2, $13::bytea, $14::bytea, $15::bytea, $16::bytea, $17::bytea, $18::bytea, $19::bytea,
     $20::text, $21::int4, $22::bytea
   WHERE ${behindEntry({ networkId: '$1', kind: '$2', sequence: '$3', previous: '$23' })}
   RETURNING sequence`,
);

/** $1 network id, $2 kind, $3 sequence, $4 hash: whether the log has this entry. */
const selectEntry = statement(
  'publish/select-entry',
  `SELECT EXISTS (
     SELECT FROM packhouse.manifest WHERE network_id = $1 AND kind = $2 AND sequence = $3 AND hash = $4
   ) AS found`,
);

/** The bundle and the signer of an entry to append. */
export interface Appended {
  networkId: number;
  signer: Signer;
  origin: Origin;
  row: Omit<BundleRow, 'objectKey' | 'fragments' | 'formatVersion'> &
    Pick<NewBundle, 'filter'> & { supersedes: string | null };
}

/** Seals the entry of a bundle after `tip`, from the values as stored, so that the text can be rebuilt from the row. */
export function sealBehind(tip: Tip, { signer, origin, row }: Omit<Appended, 'networkId'>): SealedEntry {
  const supersedes = Buffer.from(row.supersedes ?? '', 'hex');
  return signer.seal({
    network: row.network,
    chainId: tip.chainId,
    kind: row.kind,
    sequence: tip.sequence + 1,
    from: row.firstBlock,
    to: row.lastBlock,
    sha256: Buffer.from(row.sha256, 'hex').toString('hex'),
    bytes: row.byteLength,
    rawBytes: row.rawLength,
    firstHash: hashText(hashBytes(row.firstHash)),
    firstParentHash: hashText(hashBytes(row.firstParentHash)),
    lastHash: hashText(hashBytes(row.lastHash)),
    proofs: getProofs(proofsMask(row.proofs)),
    ...(row.notProved === undefined ? {} : { notProved: row.notProved }),
    ...(row.filter === undefined ? {} : { filter: row.filter }),
    clients: origin.clients,
    producer: origin.producer,
    version: row.version,
    supersedes: supersedes.length === 0 ? null : supersedes.toString('hex'),
    publishedAt: row.publishedAt.toISOString(),
    previous: tip.hash,
    keyId: signer.keyId,
  });
}

/** The tip after an appended entry. */
export function tipBehind(tip: Tip, { sequence, hash }: SealedEntry): Tip {
  return { ...tip, sequence, hash };
}

/** Appends the entry of a bundle after `tip` and returns the new tip; the kind's lock must be held. */
export async function appendEntry(session: Session, tip: Tip, appended: Appended): Promise<Tip> {
  const sealed = sealBehind(tip, appended);
  const stored = { networkId: appended.networkId, origin: appended.origin.id, key: tip.key };
  if (await putEntry(session, stored, sealed)) return tipBehind(tip, sealed);
  throw new Error(
    `entry ${sealed.sequence} of ${sealed.kind} of ${sealed.network} follows none that is there`,
  );
}

/** Inserts a sealed entry as it is; false if the entry that it follows is not there. The kind's lock must be held. */
export async function putEntry(
  session: Session,
  stored: { networkId: number; origin: number; key: number },
  entry: SealedEntry,
): Promise<boolean> {
  const rows = await session.query(insertEntry, [
    stored.networkId,
    kindCode(entry.kind),
    entry.sequence,
    entry.from,
    entry.to,
    entry.bytes,
    entry.rawBytes,
    new Date(entry.publishedAt),
    proofsMask(entry.proofs),
    stored.origin,
    entry.version,
    stored.key,
    Buffer.from(entry.sha256, 'hex'),
    hashBytes(entry.firstHash),
    hashBytes(entry.firstParentHash),
    hashBytes(entry.lastHash),
    Buffer.from(entry.hash, 'hex'),
    Buffer.from(entry.signature, 'base64'),
    Buffer.from(entry.supersedes ?? '', 'hex'),
    notProvedText(entry.notProved),
    entry.filter?.bytes ?? 0,
    Buffer.from(entry.filter?.sha256 ?? '', 'hex'),
    Buffer.from(entry.previous, 'hex'),
  ]);
  return rows.length > 0;
}

/** Throws MANIFEST_REWOUND if the log lacks an entry that this process appended (`remembered`). */
export async function checkRewound(
  session: Session,
  log: { networkId: number; network: string; kind: Kind },
  remembered: Pick<Tip, 'sequence' | 'hash'>,
  tip: Pick<Tip, 'sequence'>,
): Promise<void> {
  const { sequence, hash } = remembered;
  const values = [log.networkId, kindCode(log.kind), sequence, Buffer.from(hash, 'hex')];
  if ((await session.queryOne<{ found: boolean }>(selectEntry, values))?.found === true) return;
  const end = tip.sequence < 0 ? 'is empty' : `ends at entry ${tip.sequence}`;
  throw new PackhouseError({
    code: 'MANIFEST_REWOUND',
    message: `The manifest of ${log.kind} of ${log.network} was set back: it ${end}, and this process had appended entry ${sequence} with hash ${hash}.`,
    hint: 'The database lost what was committed last (a standby was promoted, or a backup restored). Packing goes on; run `packhouse adopt`.',
    data: { network: log.network, kind: log.kind, sequence, newest: tip.sequence },
  });
}
