import type { BlockRange, TableName } from '@packhouse/chain';
import { tableCode } from '../../connection/codes.js';
import { type Connections, statement } from '../../connection/connections.js';
import type { NetworkRef } from '../networks/networks.js';

/** $1 network id: one look-up. */
const selectControl = statement(
  'lake-control/select-control',
  'SELECT paused, windows, share FROM packhouse.lake_control WHERE network_id = $1',
);

/** $1 network id, $2 paused, $3 windows, $4 share; null: stays. */
const upsertControl = statement(
  'lake-control/upsert-control',
  `INSERT INTO packhouse.lake_control AS c (network_id, paused, windows, share)
   VALUES ($1, coalesce($2, false), coalesce($3::text[], '{}'), coalesce($4::float4, 1))
   ON CONFLICT (network_id) DO UPDATE SET paused = coalesce($2, c.paused), windows = coalesce($3::text[], c.windows),
     share = coalesce($4::float4, c.share)`,
);

/** $1 network id, $2 kind: a partial index has them alone. */
const selectRebuild = statement(
  'lake-control/select-rebuild',
  `SELECT first_block AS "firstBlock", last_block AS "lastBlock" FROM packhouse.lake_file
   WHERE network_id = $1 AND kind = $2 AND rebuild AND removed_snapshot IS NULL
   ORDER BY first_block`,
);

/** $1 network id, $2 kind, $3 first block, $4 last block: one pass over the files of the table. */
const updateRebuild = statement(
  'lake-control/update-rebuild',
  `UPDATE packhouse.lake_file SET rebuild = true
   WHERE network_id = $1 AND kind = $2 AND first_block <= $4 AND last_block >= $3 AND removed_snapshot IS NULL
     AND NOT rebuild
   RETURNING first_block`,
);

/** $1 network id, $2 kind: the end of the primary key, over the replaced files of the last blocks. */
const selectLastBlock = statement(
  'lake-control/select-last-block',
  `SELECT last_block AS block FROM packhouse.lake_file
   WHERE network_id = $1 AND kind = $2 AND removed_snapshot IS NULL
   ORDER BY first_block DESC
   LIMIT 1`,
);

/** How the tables of a network are written. */
type LakeControl = {
  paused: boolean;
  /** When files of history are written, as of backfills; empty: at any time. */
  windows: string[];
  /** Share of the time for which history is written, above 0 and up to 1. */
  share: number;
};

const ALWAYS: LakeControl = { paused: false, windows: [], share: 1 };

/** What operators decide about the tables of a network: when they are written, and what is written again. */
export function createLakeControl(connections: Connections, network: NetworkRef) {
  const place = async (table: TableName) => [await network.find(), tableCode(table)];
  return {
    control: async (): Promise<LakeControl> =>
      (await connections.queryOne<LakeControl>(selectControl, [await network.find()])) ?? ALWAYS,
    /** Changes what is given. */
    async setControl({ paused = null, windows = null, share = null }: Nullable<LakeControl>): Promise<void> {
      await connections.query(upsertControl, [await network.get(), paused, windows, share]);
    },
    /** The files of the newest snapshot that are to be written again, ascending. */
    toRebuild: async (table: TableName) => connections.query<BlockRange>(selectRebuild, await place(table)),
    /** Has the files of the newest snapshot that touch a range written again. Returns how many more these are now. */
    rebuild: async (table: TableName, { firstBlock, lastBlock }: BlockRange): Promise<number> =>
      (await connections.query(updateRebuild, [...(await place(table)), firstBlock, lastBlock])).length,
    /** The last block of a table; null: it has none. */
    lastBlock: async (table: TableName): Promise<number | null> =>
      (await connections.queryOne<{ block: number }>(selectLastBlock, await place(table)))?.block ?? null,
  };
}

type Nullable<T> = { [Field in keyof T]?: T[Field] | null };
