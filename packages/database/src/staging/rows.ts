import type { Fragment } from '@packhouse/bundle';
import type { Kind, NotProved, Proof } from '@packhouse/chain';
import { statement } from '../connection/connections.js';

/** One row of a staged block. */
export interface StagedBlock {
  number: number;
  /** `0x` hex, 32 bytes. */
  hash: string;
  parentHash: string;
  /** Unix seconds. */
  timestamp: number;
  transactionCount: number;
  proofs: readonly Proof[];
  /** Absent: nothing that the network's rules could prove was left out. */
  notProved?: readonly NotProved[];
  /** Client of the upstream that it came from (web3_clientVersion); absent or null: unknown. */
  client?: string | null;
}

/** Fragments of one kind. */
export interface StagedKind {
  kind: Kind;
  fragments: readonly Fragment[];
}

/** The data that a job stages in one transaction; all within one segment (see SEGMENT_BLOCKS). */
export interface StageRequest {
  /** Consecutive. */
  blocks: readonly StagedBlock[];
  /** Each kind's fragments cover exactly `blocks`. */
  kinds: readonly StagedKind[];
}

/** A row of staged_block. */
export interface StagedBlockRow extends Omit<StagedBlock, 'proofs' | 'notProved' | 'client'> {
  proofs: number;
  /** Id of the upstream's client; null: unknown. */
  client: number | null;
  not_proved: string;
}

/** The columns of a StagedBlockRow. */
export const STAGED_BLOCK = `block AS number, '0x' || encode(hash, 'hex') AS hash,
     '0x' || encode(parent_hash, 'hex') AS "parentHash", timestamp, transaction_count AS "transactionCount", proofs,
     client, not_proved`;

/** $1 network id, $2 first block, $3 last block. Partitions outside are pruned. */
export const selectBlocks = statement(
  'staging/select-blocks',
  `SELECT ${STAGED_BLOCK}
   FROM packhouse.staged_block
   WHERE network_id = $1 AND block BETWEEN $2 AND $3
   ORDER BY block`,
);

/**
 * The columns of a FragmentInfo, from fragment: a staged fragment without its body. octet_length of an EXTERNAL value
 * reads its pointer, not its bytes.
 */
export const FRAGMENT = `first_block AS "firstBlock", last_block AS "lastBlock", octet_length(body) AS "byteLength",
     raw_length AS "rawLength", crc32`;
