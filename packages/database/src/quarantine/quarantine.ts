import { KINDS } from '@packhouse/chain';
import type { Connections } from '../connection/connections.js';
import type { Database } from '../database.js';
import type { NetworkIds } from '../networks/networks.js';
import { putQuarantine, settleQuarantine } from './put-quarantine.js';
import { quarantineOf, type StoredQuarantine } from './quarantine-row.js';
import { selectCauses } from './select-causes.js';
import { selectDue } from './select-due.js';
import { selectOverlapping } from './select-overlapping.js';
import { selectQuarantine } from './select-quarantine.js';
import { updateNextTry } from './update-next-try.js';

/** The part `quarantine` of the database. */
export function createQuarantine(connections: Connections, ids: NetworkIds): Database['quarantine'] {
  const settle: Database['quarantine']['settle'] = async (network, range, kinds) => {
    const networkId = await ids.find(network);
    if (networkId !== undefined) await settleQuarantine(connections, { network, networkId }, range, kinds);
  };
  return {
    put: async (row) =>
      putQuarantine(connections, { network: row.network, networkId: await ids.get(row.network) }, row),
    settle,
    remove: (network, number) => settle(network, { start: number, end: number }, KINDS),
    retry: async (network, { start, end }) => {
      const id = await ids.find(network);
      if (id === undefined) return 0;
      const rows = await connections.query<{ blocks: number }>(updateNextTry, [id, start, lastBlock(end)]);
      return rows.reduce((sum, row) => sum + row.blocks, 0);
    },
    list: async (network, page = {}) => {
      const { cause, after, limit } = page;
      const rows = await connections.query<StoredQuarantine & { network: string }>(selectQuarantine, [
        network ?? null,
        cause ?? null,
        after?.network ?? null,
        after?.number ?? null,
        limit ?? null,
      ]);
      return rows.map((row) => quarantineOf(row.network, row));
    },
    within: async (network, { start, end }) => {
      const id = await ids.find(network);
      if (id === undefined) return [];
      const rows = await connections.query<StoredQuarantine>(selectOverlapping, [id, start, lastBlock(end)]);
      return rows.map((row) => quarantineOf(network, row));
    },
    due: async (network, { now, finalized, limit }) => {
      const id = await ids.find(network);
      if (id === undefined) return [];
      const rows = await connections.query<StoredQuarantine>(selectDue, [id, now, finalized, limit]);
      return rows.map((row) => quarantineOf(network, row));
    },
    causes: async (network) => {
      const id = await ids.find(network);
      return id === undefined ? [] : connections.query(selectCauses, [id]);
    },
  };
}

/** The end of a range that has none is the highest number that is a block number here. */
function lastBlock(end: number): number {
  return Math.min(end, Number.MAX_SAFE_INTEGER - 1);
}
