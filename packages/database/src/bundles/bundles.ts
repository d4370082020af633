import { kindCode } from '../connection/codes.js';
import type { Connections } from '../connection/connections.js';
import type { Database } from '../database.js';
import type { OriginIds } from '../manifest/origins.js';
import type { NetworkIds } from '../networks/networks.js';
import { bundleOf, type StoredBundle } from './bundle-row.js';
import { listBundles } from './list-bundles.js';
import { publish } from './publish.js';
import { selectCovering } from './select-covering.js';
import { selectRanges } from './select-ranges.js';
import { selectSuperseded } from './select-superseded.js';
import { selectSupersededCount } from './select-superseded-count.js';
import { selectTotals } from './select-totals.js';
import { supersede } from './supersede.js';

interface StoredSuperseded extends StoredBundle {
  superseded_at: Date;
  reason: string;
}

type Totals = Awaited<ReturnType<Database['bundles']['totals']>>;

/** The part `bundles` of the database. */
export function createBundles(
  connections: Connections,
  ids: NetworkIds,
  origins: OriginIds,
): Database['bundles'] {
  const tools = { connections, origins, tips: new Map() };
  return {
    publish: async (bundle, sealing) => publish(tools, await ids.get(bundle.network), bundle, sealing),
    supersede: async (bundle, options) => supersede(tools, await ids.get(bundle.network), bundle, options),
    superseded: async (network, kind, { start, end }) => {
      const id = await ids.find(network);
      if (id === undefined) return [];
      const values = [id, kindCode(kind), start, end];
      const rows = await connections.query<StoredSuperseded>(selectSuperseded, values);
      return rows.map((row) => ({
        ...bundleOf(network, row),
        supersededAt: row.superseded_at,
        reason: row.reason,
      }));
    },
    supersededCount: async () => {
      const [row] = await connections.query<{ count: number }>(selectSupersededCount, []);
      return row?.count ?? 0;
    },
    covering: async (network, kind, number) => {
      const id = await ids.find(network);
      if (id === undefined) return null;
      const [row] = await connections.query<StoredBundle>(selectCovering, [id, kindCode(kind), number]);
      return row === undefined ? null : bundleOf(network, row);
    },
    ranges: async (network, kind, { start, end }) => {
      const id = await ids.find(network);
      return id === undefined ? [] : connections.query(selectRanges, [id, kindCode(kind), start, end]);
    },
    list: async (network, kind, from, limit) => {
      const id = await ids.find(network);
      if (id === undefined) return [];
      const rows = await connections.query<StoredBundle>(listBundles, [id, kindCode(kind), from, limit]);
      return rows.map((row) => bundleOf(network, row));
    },
    totals: async (network, kind) => {
      const id = await ids.find(network);
      const rows =
        id === undefined ? [] : await connections.query<Totals>(selectTotals, [id, kindCode(kind)]);
      return rows[0] ?? { bundles: 0, blocks: 0, bytes: 0, newestAt: null };
    },
  };
}
