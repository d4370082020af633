import type { SealedEntry } from '@packhouse/manifest';
import { hashText, kindOf, proofsOf } from '../connection/codes.js';
import { statement } from '../connection/statement.js';

/** A row of the manifest with what it refers to. */
export interface EntryRow {
  start_block: number;
  end_block: number;
  byte_length: number;
  raw_length: number;
  published_at: Date;
  sequence: number;
  proofs: number;
  kind: number;
  version: number;
  sha256: Buffer;
  first_hash: Buffer;
  first_parent_hash: Buffer;
  last_hash: Buffer;
  hash: Buffer;
  signature: Buffer;
  supersedes: Buffer;
  network: string;
  chain_id: number;
  producer: string;
  clients: string[];
  key_id: string;
}

/** $1 network id, $2 kind, $3 first sequence, $4 last sequence: a walk along the primary key. */
export const selectEntries = statement(
  'manifest/select-entries',
  `SELECT m.start_block, m.end_block, m.byte_length, m.raw_length, m.published_at, m.sequence, m.proofs, m.kind,
     m.version, m.sha256, m.first_hash, m.first_parent_hash, m.last_hash, m.hash, m.signature, m.supersedes,
     network.name AS network, network.chain_id, origin.producer, origin.clients, key.key_id
   FROM packhouse.manifest AS m
   JOIN packhouse.network ON network.id = m.network_id
   JOIN packhouse.manifest_origin AS origin ON origin.id = m.origin_id
   JOIN packhouse.signing_key AS key ON key.id = m.key_id
   WHERE m.network_id = $1 AND m.kind = $2 AND m.sequence BETWEEN $3 AND $4
   ORDER BY m.sequence`,
);

/** The entry that a row stands for; `previous` is the hash of the row before. */
export function entryOf(row: EntryRow, previous: string): SealedEntry {
  return {
    network: row.network,
    chainId: row.chain_id,
    kind: kindOf(row.kind),
    sequence: row.sequence,
    start: row.start_block,
    end: row.end_block,
    sha256: row.sha256.toString('hex'),
    bytes: row.byte_length,
    rawBytes: row.raw_length,
    firstHash: hashText(row.first_hash),
    firstParentHash: hashText(row.first_parent_hash),
    lastHash: hashText(row.last_hash),
    proofs: proofsOf(row.proofs),
    clients: row.clients,
    producer: row.producer,
    version: row.version,
    supersedes: row.supersedes.length === 0 ? null : row.supersedes.toString('hex'),
    publishedAt: row.published_at.toISOString(),
    previous,
    keyId: row.key_id,
    hash: row.hash.toString('hex'),
    signature: row.signature.toString('base64'),
  };
}
