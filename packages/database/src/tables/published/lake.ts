import type { BlockRange, Kind, TableName } from '@packhouse/chain';
import type { Signer } from '@packhouse/manifest';
import { getTable, tableCode } from '../../connection/codes.js';
import { type Connections, type Session, statement } from '../../connection/connections.js';
import { type Fence, fenceValues, requireLease } from '../../connection/leases.js';
import type { NetworkRef } from '../networks/networks.js';
import { appendLakeEntries, type SignedHead } from './lake-log.js';

/** A column of a table of the lake. */
type LakeField = {
  id: number;
  name: string;
  type: string;
  required: boolean;
};

/** By kind, the entry of the manifest up to which everything is in a table. */
export type LakeHeads = Partial<Record<Kind, SignedHead>>;

/** A table of the lake: the bundles of a kind as columns, or what is derived of several. */
export interface LakeTable {
  kind: TableName;
  /** Of the last change of files: 1, 2, 3, … */
  snapshot: number;
  /** Files of earlier snapshots may be deleted. */
  oldestSnapshot: number;
  madeAt: Date;
  uuid: string;
  fields: LakeField[];
  heads: LakeHeads;
  /** The newest entry of the signed log of its files; null: there is none. */
  logHead: SignedHead | null;
}

/** A Parquet file of a table; all rows of its blocks. */
export interface LakeFile extends BlockRange {
  rows: number;
  bytes: number;
  /** Hex. */
  sha256: string;
  /** Hex SHA-256 over what it was made of. */
  sources: string;
  objectKey: string;
  addedSnapshot: number;
  /** It is to be written again. */
  rebuild: boolean;
  /** By id of the field. */
  stats: Record<string, { min: string | null; max: string | null; nulls: number }>;
  /** By kind, the blocks whose rows are without its data, ascending. */
  lacks: Partial<Record<Kind, readonly BlockRange[]>>;
}

export type NewLakeFile = Omit<LakeFile, 'addedSnapshot' | 'rebuild'>;

/** The files of a snapshot whose first block is in one chunk of blocks. */
type LakeChunk = {
  chunk: number;
  files: number;
  rows: number;
  bytes: number;
  /** The newest snapshot that changed one of its files, and the oldest that added one. */
  changedSnapshot: number;
  oldestSnapshot: number;
};

/** What a reader of a table may see. */
type SnapshotView = {
  kind: TableName;
  snapshot: number;
  /** Files that end behind this block are left out. */
  maxBlock: number;
};

type LakeView = SnapshotView & {
  /** Blocks of a chunk. */
  chunkBlocks: number;
};

const TABLE = `t.kind, t.snapshot, t.oldest_snapshot AS "oldestSnapshot", t.made_at AS "madeAt", t.uuid, t.fields, t.heads`;
const FILE = `first_block AS "firstBlock", last_block AS "lastBlock", row_count AS rows, byte_length AS bytes,
  encode(sha256, 'hex') AS sha256, encode(sources, 'hex') AS sources, object_key AS "objectKey",
  added_snapshot AS "addedSnapshot", rebuild, stats, lacks`;

/** $1 network id: one step at the end of the log of each table. */
const selectTables = statement(
  'lake/select-tables',
  `SELECT ${TABLE}, (
     SELECT jsonb_build_object('sequence', e.sequence, 'hash', encode(e.hash, 'hex'),
       'signature', translate(encode(e.signature, 'base64'), E'\\n', ''))
     FROM packhouse.lake_entry AS e
     WHERE e.network_id = t.network_id AND e.kind = t.kind
     ORDER BY e.sequence DESC
     LIMIT 1
   ) AS "logHead"
   FROM packhouse.lake_table AS t
   WHERE t.network_id = $1
   ORDER BY t.kind`,
);

/** $1 network id, $2 kind, $3 snapshot, $4 last block: the files of a snapshot that end there or before. */
const OF_SNAPSHOT = `network_id = $1 AND kind = $2 AND added_snapshot <= $3
  AND (removed_snapshot IS NULL OR removed_snapshot > $3) AND last_block <= $4`;

/**
 * $5 blocks of a chunk. One pass over the files of a table: 60 ms for 100,000, and callers keep the answer, which a snapshot
 * does not change. A removal changes its chunk too, so the removed files are counted for that alone.
 */
const selectChunks = statement(
  'lake/select-chunks',
  `SELECT first_block / $5::int8 AS chunk,
     count(*) FILTER (WHERE removed_snapshot IS NULL OR removed_snapshot > $3) AS files,
     coalesce(sum(row_count) FILTER (WHERE removed_snapshot IS NULL OR removed_snapshot > $3), 0)::int8 AS rows,
     coalesce(sum(byte_length) FILTER (WHERE removed_snapshot IS NULL OR removed_snapshot > $3), 0)::int8 AS bytes,
     max(greatest(added_snapshot, CASE WHEN removed_snapshot <= $3 THEN removed_snapshot END)) AS "changedSnapshot",
     min(added_snapshot) AS "oldestSnapshot"
   FROM packhouse.lake_file
   WHERE network_id = $1 AND kind = $2 AND added_snapshot <= $3 AND last_block <= $4
   GROUP BY 1
   ORDER BY 1`,
);

/** $5 and $6 bounds of the first block, $7 limit: a walk along the primary key. */
const selectFiles = statement(
  'lake/select-files',
  `SELECT ${FILE} FROM packhouse.lake_file
   WHERE ${OF_SNAPSHOT} AND first_block BETWEEN $5 AND $6
   ORDER BY first_block
   LIMIT $7`,
);

/** $5 limit: the blocks of a snapshot as ranges that do not touch. */
const selectRanges = statement(
  'lake/select-ranges',
  `SELECT lower(run)::int8 AS "firstBlock", (upper(run) - 1)::int8 AS "lastBlock"
   FROM (
     SELECT unnest(range_agg(int8range(first_block, last_block, '[]'))) AS run
     FROM packhouse.lake_file WHERE ${OF_SNAPSHOT}
   ) AS runs
   ORDER BY 1
   LIMIT $5`,
);

/** $5 limit, $6 name of a kind: the blocks of a snapshot whose rows are without it, as ranges that do not touch. */
const selectLacking = statement(
  'lake/select-lacking',
  `SELECT lower(run)::int8 AS "firstBlock", (upper(run) - 1)::int8 AS "lastBlock"
   FROM (
     SELECT unnest(range_agg(int8range(part."firstBlock", part."lastBlock", '[]'))) AS run
     FROM packhouse.lake_file,
       jsonb_to_recordset(lacks -> $6::text) AS part ("firstBlock" int8, "lastBlock" int8)
     WHERE ${OF_SNAPSHOT}
   ) AS runs
   ORDER BY 1
   LIMIT $5`,
);

/** $1 network id, $2 kind, $3 first block, $4 last block, $5 object key: a few steps along the primary key. */
const selectFile = statement(
  'lake/select-file',
  `SELECT ${FILE} FROM packhouse.lake_file
   WHERE network_id = $1 AND kind = $2 AND first_block = $3 AND last_block = $4 AND object_key = $5
   ORDER BY added_snapshot DESC
   LIMIT 1`,
);

/** $1 network id, $2 kind, $3 first block, $4 last block: the files of the newest snapshot that begin in the range. */
const selectNewest = statement(
  'lake/select-newest',
  `SELECT ${FILE} FROM packhouse.lake_file
   WHERE network_id = $1 AND kind = $2 AND first_block BETWEEN $3 AND $4 AND removed_snapshot IS NULL
   ORDER BY first_block`,
);

/** $1 network id, $2 kind, $3 fields, $4 heads: makes the table if it is new, and locks its row. */
const upsertTable = statement(
  'lake/upsert-table',
  `INSERT INTO packhouse.lake_table AS t (network_id, kind, snapshot, made_at, fields, heads)
   VALUES ($1, $2, 0, clock_timestamp(), $3::jsonb, $4::jsonb)
   ON CONFLICT (network_id, kind) DO UPDATE SET fields = excluded.fields, heads = excluded.heads
   RETURNING t.snapshot`,
);

/** $1 network id, $2 kind, $3 snapshot. */
const updateSnapshot = statement(
  'lake/update-snapshot',
  `UPDATE packhouse.lake_table SET snapshot = $3, made_at = clock_timestamp() WHERE network_id = $1 AND kind = $2`,
);

/** $1 network id, $2 kind, $3 snapshot, $4 first blocks: takes the files out of the newest snapshot. */
const removeFiles = statement(
  'lake/remove-files',
  `UPDATE packhouse.lake_file SET removed_snapshot = $3, removed_at = clock_timestamp()
   WHERE network_id = $1 AND kind = $2 AND first_block = ANY ($4::int8[]) AND removed_snapshot IS NULL
   RETURNING ${FILE}`,
);

/** $1 network id, $2 kind, $3 snapshot, $4 files as JSON. */
const insertFiles = statement(
  'lake/insert-files',
  `INSERT INTO packhouse.lake_file (network_id, kind, first_block, last_block, row_count, byte_length, added_snapshot,
     sha256, sources, object_key, stats, lacks)
   SELECT $1, $2, "firstBlock", "lastBlock", rows, bytes, $3, decode(sha256, 'hex'), decode(sources, 'hex'),
     "objectKey", stats, lacks
   FROM jsonb_to_recordset($4::jsonb) AS file ("firstBlock" int8, "lastBlock" int8, rows int8, bytes int8, sha256 text,
     sources text, "objectKey" text, stats jsonb, lacks jsonb)`,
);

/** $1 network id, $2 milliseconds since their removal, $3 limit: files that no reader needs any more. */
const selectExpired = statement(
  'lake/select-expired',
  `SELECT kind, first_block AS "firstBlock", last_block AS "lastBlock", added_snapshot AS "addedSnapshot",
     removed_snapshot AS "removedSnapshot", object_key AS "objectKey"
   FROM packhouse.lake_file
   WHERE network_id = $1 AND removed_at < clock_timestamp() - $2::int8 * interval '1 millisecond'
   ORDER BY removed_at
   LIMIT $3`,
);

/** $1 network id, $2 kind, $3 snapshot: no earlier one is served any more. */
const updateOldest = statement(
  'lake/update-oldest',
  `UPDATE packhouse.lake_table SET oldest_snapshot = greatest(oldest_snapshot, $3)
   WHERE network_id = $1 AND kind = $2`,
);

/** $1 network id, $2 kind, $3 first block, $4 last block, $5 added snapshot. */
const deleteFile = statement(
  'lake/delete-file',
  `DELETE FROM packhouse.lake_file
   WHERE network_id = $1 AND kind = $2 AND first_block = $3 AND last_block = $4 AND added_snapshot = $5`,
);

/** A file that was replaced longer ago than snapshots are kept. */
type ExpiredFile = BlockRange & {
  kind: TableName;
  addedSnapshot: number;
  removedSnapshot: number;
  objectKey: string;
};

/** The tables of the lake of a network. */
export function createLake(connections: Connections, network: NetworkRef) {
  const placeOf = async (kind: TableName) => [await network.find(), tableCode(kind)];
  const view = async ({ kind, snapshot, maxBlock }: SnapshotView) => [
    ...(await placeOf(kind)),
    snapshot,
    maxBlock,
  ];
  return {
    /** All tables that have a snapshot, by kind. */
    async tables(): Promise<LakeTable[]> {
      const rows = await connections.query<Omit<LakeTable, 'kind'> & { kind: number }>(selectTables, [
        await network.find(),
      ]);
      return rows.map((row) => ({ ...row, kind: getTable(row.kind) }));
    },
    /** How the files of a snapshot spread over chunks, ascending; also those that have none any more. */
    chunks: async (of: LakeView) =>
      connections.query<LakeChunk>(selectChunks, [...(await view(of)), of.chunkBlocks]),
    /** The files of a snapshot that begin in a range, `limit` at most, ascending. */
    async files(of: SnapshotView, { firstBlock, lastBlock }: BlockRange, limit: number): Promise<LakeFile[]> {
      return connections.query(selectFiles, [...(await view(of)), firstBlock, lastBlock, limit]);
    },
    /** The blocks of a snapshot, `limit` ranges at most, ascending. */
    ranges: async (of: SnapshotView, limit: number) =>
      connections.query<BlockRange>(selectRanges, [...(await view(of)), limit]),
    /** Those of its blocks whose rows are without a kind, `limit` ranges at most, ascending. */
    lacking: async (of: SnapshotView, kind: Kind, limit: number) =>
      connections.query<BlockRange>(selectLacking, [...(await view(of)), limit, kind]),
    /** A file by its object, as it was written last, whether or not the newest snapshot has it; null: no row has it. */
    async file(
      kind: TableName,
      { firstBlock, lastBlock }: BlockRange,
      objectKey: string,
    ): Promise<LakeFile | null> {
      return connections.queryOne(selectFile, [...(await placeOf(kind)), firstBlock, lastBlock, objectKey]);
    },
    /** The files of the newest snapshot that begin in a range, ascending. */
    newest: async (kind: TableName, { firstBlock, lastBlock }: BlockRange) =>
      connections.query<LakeFile>(selectNewest, [...(await placeOf(kind)), firstBlock, lastBlock]),
    /**
     * Makes the next snapshot of a table: without the files that begin at `remove`, with those of `add`. Without either only
     * fields and heads are kept. The change is appended to the signed log of the table. Throws LEASE_LOST,
     * SIGNING_KEY_CHANGED. Fails if a block would be in two files.
     */
    commit: async (
      kind: TableName,
      change: {
        fields: readonly LakeField[];
        heads: LakeHeads;
        remove: readonly number[];
        add: readonly NewLakeFile[];
        /** Without one the files are in no log, which audits report. */
        signer?: Signer | undefined;
      },
      fence: Fence | undefined,
    ): Promise<void> => {
      const networkId = await network.get();
      const place = [networkId, tableCode(kind)];
      await connections.transaction(async (session: Session) => {
        const { fields, heads, remove, add, signer } = change;
        const values = [...place, JSON.stringify(fields), JSON.stringify(heads)];
        const before = await session.queryOne<{ snapshot: number }>(upsertTable, values);
        const next = (before?.snapshot ?? 0) + 1;
        if (remove.length + add.length > 0) {
          await session.query(updateSnapshot, [...place, next]);
          const removed = await session.query<LakeFile>(removeFiles, [...place, next, remove]);
          await session.query(insertFiles, [...place, next, JSON.stringify(add)]);
          if (signer !== undefined) {
            const table = { networkId, network: network.name, kind, snapshot: next };
            await appendLakeEntries(session, table, signer, { removed, added: add });
          }
        }
        await session.query(requireLease, fenceValues(fence));
      });
    },
    /** Files that were replaced longer ago, `limit` at most. */
    async expired(olderThanMs: number, limit: number): Promise<ExpiredFile[]> {
      const values = [await network.find(), olderThanMs, limit];
      const rows = await connections.query<Omit<ExpiredFile, 'kind'> & { kind: number }>(
        selectExpired,
        values,
      );
      return rows.map((row) => ({ ...row, kind: getTable(row.kind) }));
    },
    /** From now on the snapshots that have the file are refused; to be called before its object is deleted. */
    expire: async ({ kind, removedSnapshot }: ExpiredFile): Promise<void> => {
      await connections.query(updateOldest, [await network.get(), tableCode(kind), removedSnapshot]);
    },
    /** Forgets a file whose object is deleted. */
    forget: async ({ kind, firstBlock, lastBlock, addedSnapshot }: ExpiredFile): Promise<void> => {
      const values = [await network.get(), tableCode(kind), firstBlock, lastBlock, addedSnapshot];
      await connections.query(deleteFile, values);
    },
  };
}
