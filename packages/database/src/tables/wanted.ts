import { kindsMask, kindsOf } from '../connection/codes.js';
import { type Connections, statement } from '../connection/connections.js';
import type { Database, NetworkDatabase } from '../contract/database.js';
import type { WantedRange } from '../contract/rows.js';
import type { NetworkRef } from './networks.js';
import { createWantedCache } from './wanted-cache.js';

/** $1 network id, $2 kinds (mask), $3 start, $4 end or null, $5 priority. */
const insertWanted = statement(
  'wanted/insert-wanted',
  `WITH added AS (
     INSERT INTO packhouse.wanted_range (network_id, kinds, start_block, end_block, priority)
     VALUES ($1, $2, $3, $4, $5)
     RETURNING *
   )
   SELECT w.id, n.name AS network, w.kinds, w.start_block, w.end_block, w.priority, w.state, w.created_at
   FROM added AS w JOIN packhouse.network AS n ON n.id = w.network_id`,
);

/** $1 network or null for all. In the order they are worked on. */
const selectWanted = statement(
  'wanted/select-wanted',
  `SELECT w.id, n.name AS network, w.kinds, w.start_block, w.end_block, w.priority, w.state, w.created_at
   FROM packhouse.wanted_range AS w JOIN packhouse.network AS n ON n.id = w.network_id
   WHERE $1::text IS NULL OR n.name = $1::text
   ORDER BY w.priority, w.id`,
);

/** $1 id, $2 state. */
const updateWantedState = statement(
  'wanted/update-wanted-state',
  `UPDATE packhouse.wanted_range AS w SET state = $2
   FROM packhouse.network AS n
   WHERE w.id = $1 AND n.id = w.network_id
   RETURNING w.id, n.name AS network, w.kinds, w.start_block, w.end_block, w.priority, w.state, w.created_at`,
);

interface Row {
  id: number;
  network: string;
  kinds: number;
  start_block: number;
  end_block: number | null;
  priority: number;
  state: WantedRange['state'];
  created_at: Date;
}

/** The ranges of a network that operators asked for. */
export function createWanted(connections: Connections, network: NetworkRef): NetworkDatabase['wanted'] {
  return {
    add: async ({ kinds, start, end, priority }) => {
      const values = [await network.get(), kindsMask(kinds), start, end, priority];
      return rangeOf((await connections.query<Row>(insertWanted, values))[0]!);
    },
    list: async () => (await connections.query<Row>(selectWanted, [network.name])).map(rangeOf),
    ...createWantedCache(connections, network),
  };
}

/** The ranges of all networks. */
export function createAllWanted(connections: Connections): Database['wanted'] {
  return {
    list: async () => (await connections.query<Row>(selectWanted, [null])).map(rangeOf),
    setState: async (id, state) =>
      (await connections.query<Row>(updateWantedState, [id, state])).map(rangeOf)[0] ?? null,
  };
}

function rangeOf(row: Row): WantedRange {
  return {
    id: row.id,
    network: row.network,
    kinds: kindsOf(row.kinds),
    start: row.start_block,
    end: row.end_block,
    priority: row.priority,
    state: row.state,
    createdAt: row.created_at,
  };
}
