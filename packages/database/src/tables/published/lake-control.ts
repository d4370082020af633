import type { BlockRange, TableName } from '@packhouse/chain';
import { tableCode } from '../../connection/codes.js';
import { type Connections, statement } from '../../connection/connections.js';
import type { NetworkRef } from '../networks/networks.js';

/** $1 network id: one look-up. */
const selectPause = statement(
  'lake-control/select-pause',
  `SELECT paused_at AS "pausedAt" FROM packhouse.lake_pause WHERE network_id = $1`,
);

/** $1 network id. */
const insertPause = statement(
  'lake-control/insert-pause',
  'INSERT INTO packhouse.lake_pause (network_id) VALUES ($1) ON CONFLICT DO NOTHING RETURNING network_id',
);

/** $1 network id. */
const deletePause = statement(
  'lake-control/delete-pause',
  'DELETE FROM packhouse.lake_pause WHERE network_id = $1 RETURNING network_id',
);

/** $1 network id, $2 kind: a partial index has them alone. */
const selectRebuild = statement(
  'lake-control/select-rebuild',
  `SELECT first_block AS "firstBlock", last_block AS "lastBlock" FROM packhouse.lake_file
   WHERE network_id = $1 AND kind = $2 AND rebuild AND removed_snapshot IS NULL
   ORDER BY first_block`,
);

/** $1 network id, $2 kind, $3 start, $4 end: one pass over the files of the table. */
const updateRebuild = statement(
  'lake-control/update-rebuild',
  `UPDATE packhouse.lake_file SET rebuild = true
   WHERE network_id = $1 AND kind = $2 AND first_block <= $4 AND last_block >= $3 AND removed_snapshot IS NULL
     AND NOT rebuild`,
);

/** What operators decide about the tables of a network: whether they are written, and what is written again. */
export function createLakeControl(connections: Connections, network: NetworkRef) {
  return {
    /** Since when they are not; null: they are. */
    async pausedAt(): Promise<Date | null> {
      const row = await connections.queryOne<{ pausedAt: Date }>(selectPause, [await network.find()]);
      return row?.pausedAt ?? null;
    },
    /** Returns whether they were written before. */
    pause: async (): Promise<boolean> =>
      (await connections.query(insertPause, [await network.get()])).length > 0,
    /** Returns whether they were paused. */
    resume: async (): Promise<boolean> =>
      (await connections.query(deletePause, [await network.get()])).length > 0,
    /** The files of the newest snapshot that are to be written again, ascending. */
    toRebuild: async (kind: TableName) =>
      connections.query<BlockRange>(selectRebuild, [await network.find(), tableCode(kind)]),
    /** Has the files of the newest snapshot that touch a range written again; those that are damaged, or all. */
    async rebuild(kind: TableName, { firstBlock, lastBlock }: BlockRange): Promise<void> {
      await connections.query(updateRebuild, [await network.get(), tableCode(kind), firstBlock, lastBlock]);
    },
  };
}
