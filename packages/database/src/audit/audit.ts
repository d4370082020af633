import { kindCode, kindOf } from '../connection/codes.js';
import type { Connections } from '../connection/connections.js';
import type { Database } from '../database.js';
import type { NetworkIds } from '../networks/networks.js';
import { selectKnownKeys } from './select-known-keys.js';
import { selectRun } from './select-run.js';
import { selectSupersededByKind } from './select-superseded-by-kind.js';
import { upsertRun } from './upsert-run.js';

interface RunRow {
  finished_at: Date;
  bundles: number;
  bytes_read: number;
  findings: number;
}

/** The part `audit` of the database. */
export function createAudit(connections: Connections, ids: NetworkIds): Database['audit'] {
  return {
    knownKeys: async (network, kind, starts) => {
      const id = await ids.find(network);
      if (id === undefined) return new Set();
      const values = [id, kindCode(kind), starts];
      const rows = await connections.query<{ key: string }>(selectKnownKeys, values);
      return new Set(rows.map(({ key }) => key));
    },
    superseded: async (network) => {
      const id = await ids.find(network);
      if (id === undefined) return [];
      const rows = await connections.query<{ kind: number; count: number }>(selectSupersededByKind, [id]);
      return rows.map(({ kind, count }) => ({ kind: kindOf(kind), count }));
    },
    note: async ({ network, finishedAt, bundles, bytesRead, findings }) => {
      const id = await ids.get(network);
      await connections.query(upsertRun, [id, finishedAt, bundles, bytesRead, findings]);
    },
    last: async (network) => {
      const id = await ids.find(network);
      if (id === undefined) return null;
      const [row] = await connections.query<RunRow>(selectRun, [id]);
      if (row === undefined) return null;
      const { finished_at: finishedAt, bytes_read: bytesRead, bundles, findings } = row;
      return { network, finishedAt, bundles, bytesRead, findings };
    },
  };
}
