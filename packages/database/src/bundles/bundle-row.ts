import { decodeFragmentTable } from '@packhouse/bundle';
import { hashText, kindOf, proofsOf } from '../connection/codes.js';
import type { BundleRow } from '../database.js';

/** A row of the range index as it is stored. */
export interface StoredBundle {
  kind: number;
  start_block: number;
  end_block: number;
  byte_length: number;
  raw_length: number;
  proofs: number;
  format_version: number;
  version: number;
  published_at: Date;
  sha256: Buffer;
  first_hash: Buffer;
  first_parent_hash: Buffer;
  last_hash: Buffer;
  object_key: string;
  fragments: Buffer;
}

/** All columns of a bundle but its network. */
export const BUNDLE_COLUMNS = `kind, start_block, end_block, byte_length, raw_length, proofs, format_version,
     version, published_at, sha256, first_hash, first_parent_hash, last_hash, object_key, fragments`;

/** A row of the range index as it is handed out. */
export function bundleOf(network: string, row: StoredBundle): BundleRow {
  return {
    network,
    kind: kindOf(row.kind),
    start: row.start_block,
    end: row.end_block,
    objectKey: row.object_key,
    byteLength: row.byte_length,
    rawLength: row.raw_length,
    sha256: row.sha256.toString('hex'),
    firstHash: hashText(row.first_hash),
    firstParentHash: hashText(row.first_parent_hash),
    lastHash: hashText(row.last_hash),
    proofs: proofsOf(row.proofs),
    fragments: decodeFragmentTable(row.start_block, row.fragments),
    formatVersion: row.format_version,
    version: row.version,
    publishedAt: row.published_at,
  };
}
