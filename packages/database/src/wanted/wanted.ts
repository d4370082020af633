import { kindsMask, kindsOf } from '../connection/codes.js';
import type { Connections } from '../connection/connections.js';
import type { Database, WantedRange } from '../database.js';
import type { NetworkIds } from '../networks/networks.js';
import { insertWanted } from './insert-wanted.js';
import { selectWanted } from './select-wanted.js';
import { updateWantedState } from './update-wanted-state.js';

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

/** The part `wanted` of the database. */
export function createWanted(connections: Connections, ids: NetworkIds): Database['wanted'] {
  return {
    add: async ({ network, kinds, start, end, priority }) => {
      const id = await ids.get(network);
      const values = [id, kindsMask(kinds), start, end, priority];
      return rangeOf((await connections.query<Row>(insertWanted, values))[0]!);
    },
    list: async (network) =>
      (await connections.query<Row>(selectWanted, [network ?? null, null])).map(rangeOf),
    get: async (id) => (await connections.query<Row>(selectWanted, [null, id])).map(rangeOf)[0] ?? null,
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
