import type { BlockRange, Kind } from '@packhouse/chain';
import { getOrAdd } from '@packhouse/runtime';
import { getKind } from '../connection/codes.js';
import { type Connections, statement } from '../connection/connections.js';
import type { PublishedFile } from '../tables/published/bundles.js';

/** Blocks below the head, and below the newest final one, that a window has at most. */
const MAX_BLOCKS = 4_096;
const FINAL_BLOCKS = 256;
/** Repairs of a kind in a window. */
export const WINDOW_REPAIRS = 64;

/** A staged block: number, hash and parent hash (`0x` hex). */
export interface FeedStaged {
  number: number;
  hash: string;
  parentHash: string;
}

/** An entry of the manifest that replaces a file. */
export interface FeedRepair extends BlockRange {
  sequence: number;
  /** Hex. */
  sha256: string;
  supersedes: string;
}

/** Staged blocks, and by kind the ranges of them that have their fragments. */
export interface StagedPart {
  blocks: FeedStaged[];
  ranges: ReadonlyMap<Kind, readonly BlockRange[]>;
}

/** What is at the newest blocks of a network, as one snapshot. */
export interface FeedWindow extends StagedPart {
  /** The newest block, and the newest final one; what is published is final. -1: none. */
  head: number;
  finalized: number;
  /** Hash of the newest final block; null: unknown. */
  finalHash: string | null;
  /** Whether the alarm about a reorganisation below finality is open. */
  halted: boolean;
  /** The window has everything that is staged and published from this block on. */
  floor: number;
  /** Published files that reach `floor` or a later block, ascending. */
  bundles: ReadonlyMap<Kind, readonly PublishedFile[]>;
  /** The last repairs of each kind, ascending: WINDOW_REPAIRS at most. */
  repairs: ReadonlyMap<Kind, readonly FeedRepair[]>;
}

/**
 * Two members of a JSON object: the staged blocks from `first` to `last` as [number, hash, parent hash], and the runs of
 * their fragments as [kind, first, last]. No fragment begins more than 1,023 blocks before a block that it holds.
 */
const stagedMembers = (first: string, last: string): string => `
     'blocks', (
       SELECT coalesce(json_agg(json_build_array(block, encode(hash, 'hex'), encode(parent_hash, 'hex')) ORDER BY block), '[]')
       FROM packhouse.staged_block
       WHERE network_id = $1 AND block BETWEEN ${first} AND ${last}
     ),
     'ranges', (
       SELECT coalesce(json_agg(json_build_array(kind, lower(run), upper(run) - 1) ORDER BY kind, run), '[]')
       FROM (
         SELECT kind, unnest(range_agg(int8range(first_block, last_block, '[]'))) AS run
         FROM packhouse.fragment
         WHERE network_id = $1 AND first_block BETWEEN ${first} - 1023 AND ${last} AND last_block >= ${first}
         GROUP BY kind
       ) AS runs
     )`;

/**
 * $1 network id, $2 and $3 most blocks below the head and below the newest final one, $4 repairs of a kind: all of a
 * window in one statement, and so of one snapshot. Its cost does not grow with what is published: the bundles are those
 * from the last one that begins at or before the floor on.
 */
const selectWindow = statement(
  'feed/select-window',
  `WITH published AS MATERIALIZED (
     SELECT coalesce(max(r.last_block), -1) AS last FROM generate_series(0, 7) AS k (kind), LATERAL (
       SELECT last_block FROM packhouse.published_run
       WHERE network_id = $1 AND kind = k.kind ORDER BY first_block DESC LIMIT 1
     ) AS r
   ),
   known AS MATERIALIZED (
     SELECT greatest(h.block, p.last) AS head, greatest(h.finalized, p.last) AS finalized, h.anchor_block, h.anchor_hash
     FROM published AS p LEFT JOIN packhouse.head AS h ON h.network_id = $1
   ),
   low AS MATERIALIZED (
     SELECT greatest(0, head - $2::int8 + 1, finalized - $3::int8 + 1) AS floor FROM known
   )
   SELECT json_build_object(
     'head', k.head, 'finalized', k.finalized, 'floor', l.floor,
     'halted', EXISTS (
       SELECT FROM packhouse.alarm
       WHERE network_id = $1 AND name = 'REORG_BELOW_FINALITY' AND cleared_at IS NULL
     ),
     'finalHash', encode(coalesce(
       (SELECT hash FROM packhouse.staged_block WHERE network_id = $1 AND block = k.finalized),
       (SELECT parent_hash FROM packhouse.staged_block WHERE network_id = $1 AND block = k.finalized + 1),
       CASE WHEN k.anchor_block = k.finalized THEN k.anchor_hash END
     ), 'hex'),
     ${stagedMembers('(SELECT floor FROM low)', '281474976710655')},
     'bundles', (
       SELECT coalesce(json_agg(json_build_array(
         kind.code, b.first_block, b.last_block, b.byte_length, encode(b.sha256, 'hex'), b.version,
         encode(b.last_hash, 'hex')
       ) ORDER BY kind.code, b.first_block), '[]')
       FROM generate_series(0, 7) AS kind (code), LATERAL (
         SELECT first_block, last_block, byte_length, sha256, version, last_hash
         FROM packhouse.bundle
         WHERE network_id = $1 AND kind = kind.code AND last_block >= l.floor AND first_block >= coalesce((
           SELECT first_block FROM packhouse.bundle
           WHERE network_id = $1 AND kind = kind.code AND first_block <= l.floor ORDER BY first_block DESC LIMIT 1
         ), l.floor)
       ) AS b
     ),
     'repairs', (
       SELECT coalesce(json_agg(json_build_array(kind.code, r.entry) ORDER BY kind.code, r.sequence), '[]')
       FROM generate_series(0, 7) AS kind (code), LATERAL (
         SELECT sequence, json_build_array(
           sequence, first_block, last_block, encode(sha256, 'hex'), encode(supersedes, 'hex')
         ) AS entry
         FROM packhouse.manifest
         WHERE network_id = $1 AND kind = kind.code AND supersedes <> ''
         ORDER BY sequence DESC LIMIT $4
       ) AS r
     )
   )::text AS text
   FROM known AS k, low AS l`,
);

/** $1 network id, $2 first block, $3 last block. */
const selectStaged = statement(
  'feed/select-staged',
  `SELECT json_build_object(${stagedMembers('$2::int8', '$3::int8')}) AS part`,
);

interface StagedJson {
  blocks: [number: number, hash: string, parentHash: string][];
  ranges: [kind: number, firstBlock: number, lastBlock: number][];
}

interface WindowJson extends StagedJson, Pick<FeedWindow, 'head' | 'finalized' | 'halted' | 'floor'> {
  finalHash: string | null;
  bundles: [
    kind: number,
    firstBlock: number,
    lastBlock: number,
    bytes: number,
    sha256: string,
    version: number,
    lastHash: string,
  ][];
  repairs: [
    kind: number,
    [sequence: number, firstBlock: number, lastBlock: number, sha256: string, supersedes: string],
  ][];
}

/** Reads a window as text: two that are the same are of the same state. */
export async function readWindow(connections: Connections, networkId: number): Promise<string> {
  const values = [networkId, MAX_BLOCKS, FINAL_BLOCKS, WINDOW_REPAIRS];
  return (await connections.queryOne<{ text: string }>(selectWindow, values))?.text as string;
}

/** The window of a text that `readWindow` returned. */
export function parseWindow(text: string): FeedWindow {
  const { bundles, repairs, finalHash, blocks, ranges, ...rest } = JSON.parse(text) as WindowJson;
  return {
    ...rest,
    finalHash: finalHash === null ? null : `0x${finalHash}`,
    ...toStagedPart({ blocks, ranges }),
    bundles: byKind(bundles, ([, firstBlock, lastBlock, byteLength, sha256, version, lastHash]) => ({
      firstBlock,
      lastBlock,
      byteLength,
      sha256,
      version,
      lastHash: `0x${lastHash}`,
    })),
    repairs: byKind(repairs, ([, [sequence, firstBlock, lastBlock, sha256, supersedes]]) => ({
      sequence,
      firstBlock,
      lastBlock,
      sha256,
      supersedes,
    })),
  };
}

/** What is staged within a range, published or not. */
export async function readStaged(
  connections: Connections,
  networkId: number,
  { firstBlock, lastBlock }: BlockRange,
): Promise<StagedPart> {
  const row = await connections.queryOne<{ part: StagedJson }>(selectStaged, [
    networkId,
    firstBlock,
    lastBlock,
  ]);
  return toStagedPart(row?.part as StagedJson);
}

function toStagedPart({ blocks, ranges }: StagedJson): StagedPart {
  return {
    blocks: blocks.map(([number, hash, parentHash]) => ({
      number,
      hash: `0x${hash}`,
      parentHash: `0x${parentHash}`,
    })),
    ranges: byKind(ranges, ([, firstBlock, lastBlock]) => ({ firstBlock, lastBlock })),
  };
}

function byKind<T extends [kind: number, ...unknown[]], R>(
  rows: readonly T[],
  read: (row: T) => R,
): Map<Kind, R[]> {
  const all = new Map<Kind, R[]>();
  for (const row of rows) getOrAdd(all, getKind(row[0]), (): R[] => []).push(read(row));
  return all;
}
