import { type ManifestEntry, NO_ENTRY, type Signer } from '@packhouse/manifest';
import { hashBytes, hashText, kindCode, proofsMask, proofsOf } from '../connection/codes.js';
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

/** An entry that was sealed to stand behind a tip. */
export interface SealedBehind {
  sequence: number;
  hash: Buffer;
  signature: Buffer;
  /** Hex sha256 of the version before as bytes; empty: none. */
  supersedes: Buffer;
}

/** Seals the entry of a bundle behind `tip`: of the values as they are stored, so that the row gives the same text again. */
export function sealBehind(tip: Tip, { signer, origin, row }: Omit<Appended, 'networkId'>): SealedBehind {
  const supersedes = Buffer.from(row.supersedes ?? '', 'hex');
  const entry: ManifestEntry = {
    network: row.network,
    chainId: tip.chainId,
    kind: row.kind,
    sequence: tip.sequence + 1,
    start: row.start,
    end: row.end,
    sha256: Buffer.from(row.sha256, 'hex').toString('hex'),
    bytes: row.byteLength,
    rawBytes: row.rawLength,
    firstHash: hashText(hashBytes(row.firstHash)),
    firstParentHash: hashText(hashBytes(row.firstParentHash)),
    lastHash: hashText(hashBytes(row.lastHash)),
    proofs: proofsOf(proofsMask(row.proofs)),
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

/** The tip behind an entry that was appended. */
export function tipBehind(tip: Tip, { sequence, hash }: SealedBehind): Tip {
  return { ...tip, sequence, hash: hash.toString('hex') };
}

/** Appends the entry of a bundle behind `tip` and gives the new tip; the kind's lock must be held. */
export async function appendEntry(session: Session, tip: Tip, appended: Appended): Promise<Tip> {
  const { networkId, origin, row } = appended;
  const sealed = sealBehind(tip, appended);
  await session.query(insertEntry, [
    ...[networkId, kindCode(row.kind), sealed.sequence, row.start, row.end, row.byteLength, row.rawLength],
    ...[row.publishedAt, proofsMask(row.proofs), origin.id, row.version, tip.key],
    Buffer.from(row.sha256, 'hex'),
    ...[hashBytes(row.firstHash), hashBytes(row.firstParentHash), hashBytes(row.lastHash)],
    ...[sealed.hash, sealed.signature, sealed.supersedes],
  ]);
  return tipBehind(tip, sealed);
}
