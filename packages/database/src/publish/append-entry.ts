import { type ManifestEntry, NO_ENTRY, type Signer } from '@packhouse/manifest';
import { PackhouseError } from '@packhouse/runtime';
import { getProofs, hashBytes, hashText, kindCode, notProvedText, proofsMask } from '../connection/codes.js';
import { type Session, statement } from '../connection/connections.js';
import type { BundleRow, NewBundle } from '../tables/published/bundles.js';
import type { Origin } from './origins.js';

/** $1 network id, $2 kind, $3 the signer's key id: one step at the end of the primary key, and two tiny tables. */
const selectTip = statement(
  'publish/select-tip',
  `SELECT coalesce(tip.sequence, -1) AS sequence, encode(tip.hash, 'hex') AS hash, network.chain_id AS "chainId",
     date_trunc('milliseconds', clock_timestamp()) AS now,
     key.id AS key, key.retired_at IS NOT NULL AS retired,
     (SELECT key_id FROM packhouse.signing_key WHERE retired_at IS NULL) AS current
   FROM packhouse.network
   LEFT JOIN LATERAL (
     SELECT sequence, hash FROM packhouse.manifest
     WHERE network_id = $1 AND kind = $2
     ORDER BY sequence DESC
     LIMIT 1
   ) AS tip ON true
   LEFT JOIN packhouse.signing_key AS key ON key.key_id = $3
   WHERE network.id = $1`,
);

/**
 * $1 network id, $2 kind, $3 sequence, $4 start, $5 end, $6 bytes, $7 raw bytes, $8 published at, $9 proofs (mask),
 * $10 origin, $11 version, $12 key, $13 sha256, $14 first hash, $15 first parent hash, $16 last hash, $17 hash,
 * $18 signature, $19 sha256 of what it supersedes (empty: nothing), $20 text of what is not proved, $21 bytes (0: none)
 * and $22 sha256 of the filter.
 */
const insertEntry = statement(
  'publish/insert-entry',
  `INSERT INTO packhouse.manifest (network_id, kind, sequence, first_block, last_block, byte_length, raw_length,
     published_at, proofs, origin_id, version, key_id, sha256, first_hash, first_parent_hash, last_hash, hash,
     signature, supersedes, not_proved, filter_bytes, filter_sha256)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21,
     $22)`,
);

/** The end of a log, which the next entry refers to. */
export interface Tip {
  sequence: number;
  hash: string;
  chainId: number;
  /** The database's time, whole milliseconds. */
  now: Date;
  /** Stored id of the signer's key. */
  key: number;
}

/** The bundle and the signer of an entry to append. */
export interface Appended {
  networkId: number;
  signer: Signer;
  origin: Origin;
  row: Omit<BundleRow, 'objectKey' | 'fragments' | 'formatVersion'> &
    Pick<NewBundle, 'filter'> & { supersedes: string | null };
}

/** Reads the end of a log; the kind's lock must be held. Throws SIGNING_KEY_CHANGED. */
export async function readTip(
  session: Session,
  log: { networkId: number; kind: number },
  signer: Signer,
): Promise<Tip> {
  const row = await session.queryOne<TipRow>(selectTip, [log.networkId, log.kind, signer.keyId]);
  if (row === null) throw new Error(`no network has the id ${log.networkId}`);
  const { retired, current, key, hash, ...tip } = row;
  if (key === null || retired) throw signingKeyChanged(signer.keyId, current);
  return { ...tip, key, hash: hash ?? NO_ENTRY };
}

/** An entry sealed as the next one after a tip. */
interface SealedBehind {
  sequence: number;
  hash: Buffer;
  signature: Buffer;
  /** SHA-256 of the superseded file as bytes; empty: none. */
  supersedes: Buffer;
}

/** Seals the entry of a bundle after `tip`, from the values as stored, so that the text can be rebuilt from the row. */
export function sealBehind(tip: Tip, { signer, origin, row }: Omit<Appended, 'networkId'>): SealedBehind {
  const supersedes = Buffer.from(row.supersedes ?? '', 'hex');
  const entry: ManifestEntry = {
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
  };
  const { hash, signature } = signer.seal(entry);
  return {
    sequence: entry.sequence,
    hash: Buffer.from(hash, 'hex'),
    signature: Buffer.from(signature, 'base64'),
    supersedes,
  };
}

/** The tip after an appended entry. */
export function tipBehind(tip: Tip, { sequence, hash }: SealedBehind): Tip {
  return { ...tip, sequence, hash: hash.toString('hex') };
}

/** Appends the entry of a bundle after `tip` and returns the new tip; the kind's lock must be held. */
export async function appendEntry(session: Session, tip: Tip, appended: Appended): Promise<Tip> {
  const { networkId, origin, row } = appended;
  const sealed = sealBehind(tip, appended);
  await session.query(insertEntry, [
    networkId,
    kindCode(row.kind),
    sealed.sequence,
    row.firstBlock,
    row.lastBlock,
    row.byteLength,
    row.rawLength,
    row.publishedAt,
    proofsMask(row.proofs),
    origin.id,
    row.version,
    tip.key,
    Buffer.from(row.sha256, 'hex'),
    hashBytes(row.firstHash),
    hashBytes(row.firstParentHash),
    hashBytes(row.lastHash),
    sealed.hash,
    sealed.signature,
    sealed.supersedes,
    notProvedText(row.notProved),
    row.filter?.bytes ?? 0,
    Buffer.from(row.filter?.sha256 ?? '', 'hex'),
  ]);
  return tipBehind(tip, sealed);
}

interface TipRow extends Omit<Tip, 'hash' | 'key'> {
  hash: string | null;
  /** null if it was never registered. */
  key: number | null;
  retired: boolean;
  current: string | null;
}

/** The error for a signer whose key is not the current one. */
function signingKeyChanged(keyId: string, current: string | null): PackhouseError {
  return new PackhouseError({
    code: 'SIGNING_KEY_CHANGED',
    message: `The signing key that is here is ${keyId}, but the manifest is signed with ${current === null ? 'none that this database knows' : `key ${current}`}.`,
    hint: 'Put the file of that key back; to go on with the one that is here, run `packhouse manifest rotate`: entries already signed stay valid.',
    data: { got: keyId, expected: current },
  });
}
