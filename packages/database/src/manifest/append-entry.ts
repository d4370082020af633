import { type ManifestEntry, NO_ENTRY, type Signer } from '@packhouse/manifest';
import { hashBytes, hashText, kindCode, kindOf, proofsMask, proofsOf } from '../connection/codes.js';
import type { Session } from '../connection/connections.js';
import type { BundleRow } from '../database.js';
import { insertEntry } from './insert-entry.js';
import { signingKeyChanged } from './key-changed.js';
import type { Origin } from './origins.js';
import { selectClock } from './select-clock.js';
import { selectTip, type TipRow } from './select-tip.js';

/** Where a log ends; what is appended next goes on from it. */
export interface Tip {
  sequence: number;
  hash: string;
  chainId: number;
  /** The database's time, whole milliseconds. */
  now: Date;
  /** Stored id of the signer's key. */
  key: number;
}

/** What is appended. */
export interface Appended {
  networkId: number;
  signer: Signer;
  origin: Origin;
  row: Omit<BundleRow, 'objectKey' | 'fragments' | 'formatVersion'> & { supersedes: string | null };
}

/** Reads where a log ends; the kind's lock must be held. Throws SIGNING_KEY_CHANGED. */
export async function readTip(
  session: Session,
  log: { networkId: number; kind: number },
  signer: Signer,
): Promise<Tip> {
  const [row] = await session.query<TipRow>(selectTip, [log.networkId, log.kind, signer.keyId]);
  if (row === undefined) throw new Error(`no network has the id ${log.networkId}`);
  if (row.key === null || row.retired !== false) throw signingKeyChanged(signer.keyId, row.current);
  return {
    sequence: row.sequence ?? -1,
    hash: row.hash?.toString('hex') ?? NO_ENTRY,
    chainId: row.chain_id,
    now: row.now,
    key: row.key,
  };
}

/** The database's time in whole milliseconds. */
export async function readClock(session: Session): Promise<Date> {
  const [row] = await session.query<{ now: Date }>(selectClock, []);
  return (row as { now: Date }).now;
}

/**
 * Appends the entry of a bundle behind `tip` and gives the new tip; the kind's lock must be held.
 *
 * What is signed is made of the values as they are stored, so that the row gives the same text again.
 */
export async function appendEntry(
  session: Session,
  tip: Tip,
  { networkId, signer, origin, row }: Appended,
): Promise<Tip> {
  const kind = kindCode(row.kind);
  const proofs = proofsMask(row.proofs);
  const hashes = [row.firstHash, row.firstParentHash, row.lastHash].map(hashBytes) as [
    Buffer,
    Buffer,
    Buffer,
  ];
  const sha256 = Buffer.from(row.sha256, 'hex');
  const supersedes = Buffer.from(row.supersedes ?? '', 'hex');
  const entry: ManifestEntry = {
    network: row.network,
    chainId: tip.chainId,
    kind: kindOf(kind),
    sequence: tip.sequence + 1,
    start: row.start,
    end: row.end,
    sha256: sha256.toString('hex'),
    bytes: row.byteLength,
    rawBytes: row.rawLength,
    firstHash: hashText(hashes[0]),
    firstParentHash: hashText(hashes[1]),
    lastHash: hashText(hashes[2]),
    proofs: proofsOf(proofs),
    clients: origin.clients,
    producer: origin.producer,
    version: row.version,
    supersedes: supersedes.length === 0 ? null : supersedes.toString('hex'),
    publishedAt: row.publishedAt.toISOString(),
    previous: tip.hash,
    keyId: signer.keyId,
  };
  const sealed = signer.seal(entry);
  await session.query(insertEntry, [
    ...[networkId, kind, entry.sequence, row.start, row.end, row.byteLength, row.rawLength],
    ...[row.publishedAt, proofs, origin.id, row.version, tip.key, sha256, ...hashes],
    ...[Buffer.from(sealed.hash, 'hex'), Buffer.from(sealed.signature, 'base64'), supersedes],
  ]);
  return { ...tip, sequence: entry.sequence, hash: sealed.hash };
}
