import type { BlockRange, Kind } from '@packhouse/chain';
import { hashBytes, kindCode } from '../connection/codes.js';
import { type Connections, statement } from '../connection/connections.js';
import { ABANDONED_DAYS } from '../staging/reclaim.js';
import type { NetworkRef } from '../tables/networks/networks.js';
import { type FeedRepair, type FeedStaged, parseWindow, readStaged, readWindow } from './window.js';

/** A block of a cursor. */
type Place = { block: number; hash: string };

/** What became of a block. */
export interface Branch {
  /** The block itself and those below it that were abandoned, downwards, each the parent of the one before. */
  abandoned: FeedStaged[];
  /** Whether the block where that ends is staged: null if none is staged there, false if another one is. */
  staged: boolean | null;
  /** Whether the branch may go on below: only its upper end was read. */
  more: boolean;
}

/** Abandoned blocks that are followed downwards at a time. */
const MAX_WALK = 512;

/**
 * $1 network id, $2 block, $3 hash, $4 most steps: walks down the abandoned blocks by their parents' hashes, and stops at
 * one that is staged: the chain came back to it.
 */
const selectBranch = statement(
  'feed/select-branch',
  `WITH RECURSIVE walk AS (
     SELECT $2::int8 + 1 AS block, NULL::bytea AS hash, $3::bytea AS parent_hash, 0 AS n
     UNION ALL
     SELECT a.block, a.hash, a.parent_hash, w.n + 1
     FROM walk AS w JOIN packhouse.abandoned_block AS a
       ON a.network_id = $1 AND a.block = w.block - 1 AND a.hash = w.parent_hash
     WHERE w.n < $4 AND NOT EXISTS (
       SELECT FROM packhouse.staged_block AS s WHERE s.network_id = $1 AND s.block = a.block AND s.hash = a.hash
     )
   )
   SELECT w.block AS number, '0x' || encode(w.hash, 'hex') AS hash, '0x' || encode(w.parent_hash, 'hex') AS "parentHash",
     (SELECT s.hash = w.parent_hash FROM packhouse.staged_block AS s
      WHERE s.network_id = $1 AND s.block = w.block - 1) AS staged
   FROM walk AS w
   ORDER BY w.n`,
);

/** $1 network id, $2 kind, $3 after this sequence, $4 limit: a walk along an index of these entries alone. */
const selectRepairs = statement(
  'feed/select-repairs',
  `SELECT sequence, first_block AS "firstBlock", last_block AS "lastBlock", encode(sha256, 'hex') AS sha256,
     encode(supersedes, 'hex') AS supersedes
   FROM packhouse.manifest
   WHERE network_id = $1 AND kind = $2 AND sequence > $3 AND supersedes <> ''
   ORDER BY sequence
   LIMIT $4`,
);

/** What feeds of a network read beside its published files. */
export function createFeedReads(connections: Connections, network: NetworkRef) {
  return {
    /** The newest blocks as text, for `parse`; see FeedWindow. */
    window: async () => readWindow(connections, await network.find()),
    parse: parseWindow,
    /** What is staged within a range, published or not. */
    staged: async (range: BlockRange) => readStaged(connections, await network.find(), range),
    /** What became of a block; of a longer abandoned branch the upper end. */
    async branch({ block, hash }: Place): Promise<Branch> {
      type Row = FeedStaged & { staged: boolean | null };
      const values = [await network.find(), block, hashBytes(hash), MAX_WALK];
      const rows = await connections.query<Row>(selectBranch, values);
      return {
        abandoned: rows.slice(1).map(({ staged: _, ...row }) => row),
        staged: rows.at(-1)?.staged ?? null,
        more: rows.length > MAX_WALK,
      };
    },
    /** Repairs of a kind after a position in its log, `limit` at most, in order. */
    repairs: async (kind: Kind, after: number, limit: number) =>
      connections.query<FeedRepair>(selectRepairs, [await network.find(), kindCode(kind), after, limit]),
    /** How long abandoned blocks are kept. */
    keptDays: ABANDONED_DAYS,
  };
}
