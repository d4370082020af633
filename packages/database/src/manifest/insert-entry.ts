import { statement } from '../connection/statement.js';

/**
 * $1 network id, $2 kind, $3 sequence, $4 start, $5 end, $6 bytes, $7 raw bytes, $8 published at, $9 proofs (mask),
 * $10 origin, $11 version, $12 key, $13 sha256, $14 first hash, $15 first parent hash, $16 last hash, $17 hash,
 * $18 signature, $19 sha256 of what it supersedes (empty: nothing).
 */
export const insertEntry = statement(
  'manifest/insert-entry',
  `INSERT INTO packhouse.manifest (network_id, kind, sequence, start_block, end_block, byte_length, raw_length,
     published_at, proofs, origin_id, version, key_id, sha256, first_hash, first_parent_hash, last_hash, hash,
     signature, supersedes)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)`,
);
