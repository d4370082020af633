import { hashText, kindCode, proofsOf } from '../connection/codes.js';
import type { Connections } from '../connection/connections.js';
import type { Database, StagedBlock } from '../database.js';
import type { NetworkIds } from '../networks/networks.js';
import { abandon } from './abandon.js';
import { type ClientNames, createClientNames } from './client-names.js';
import { fragmentInfo } from './fragment-info.js';
import { listPartitions } from './list-partitions.js';
import { readBodies } from './read-bodies.js';
import { reclaim } from './reclaim.js';
import { segmentStart } from './segments.js';
import { selectAbandoned } from './select-abandoned.js';
import { type StagedBlockRow, selectBlocks } from './select-blocks.js';
import { type FragmentRow, selectFragments } from './select-fragments.js';
import { selectNewest } from './select-newest.js';
import { stage } from './stage.js';

/** The part `staging` of the database. */
export function createStaging(connections: Connections, ids: NetworkIds): Database['staging'] {
  const clients = createClientNames(connections);
  return {
    stage: async (request) => stage(connections, clients, await ids.get(request.network), request),
    blocks: async (network, { start, end }) => {
      const id = await ids.find(network);
      if (id === undefined) return [];
      return blocksOf(clients, await connections.query<StagedBlockRow>(selectBlocks, [id, start, end]));
    },
    newest: async (network) => {
      const id = await ids.find(network);
      if (id === undefined) return null;
      const rows = await connections.query<StagedBlockRow>(selectNewest, [id]);
      return (await blocksOf(clients, rows))[0] ?? null;
    },
    fragments: async (network, kind, { start, end }) => {
      const id = await ids.find(network);
      if (id === undefined) return [];
      const values = [id, kindCode(kind), start, end, segmentStart(start)];
      return (await connections.query<FragmentRow>(selectFragments, values)).map(fragmentInfo);
    },
    bodies: async (network, kind, startBlocks, crcs) =>
      readBodies(connections, {
        network,
        networkId: await ids.get(network),
        kind: kindCode(kind),
        startBlocks,
        crcs,
      }),
    abandon: async (network, start) =>
      abandon(connections, { network, networkId: await ids.get(network), start }),
    abandonedAt: async (network, number) => {
      const id = await ids.find(network);
      if (id === undefined) return null;
      const rows = await connections.query<{ hash: Buffer; abandoned_at: Date }>(selectAbandoned, [
        id,
        number,
      ]);
      const [row] = rows;
      return row === undefined ? null : { hash: hashText(row.hash), at: row.abandoned_at };
    },
    reclaim: async (network) => {
      const id = await ids.find(network);
      return id === undefined ? [] : reclaim(connections, id);
    },
    diskBytes: async () => {
      const partitions = await connections.query<{ bytes: number }>(listPartitions, [null]);
      return partitions.reduce((sum, partition) => sum + partition.bytes, 0);
    },
  };
}

async function blocksOf(clients: ClientNames, rows: readonly StagedBlockRow[]): Promise<StagedBlock[]> {
  const names = await clients.names(rows.flatMap((row) => row.client ?? []));
  return rows.map((row) => {
    const client = row.client === null ? undefined : names.get(row.client);
    return {
      number: row.block,
      hash: hashText(row.hash),
      parentHash: hashText(row.parent_hash),
      timestamp: row.timestamp,
      transactionCount: row.transaction_count,
      proofs: proofsOf(row.proofs),
      ...(client === undefined ? {} : { client }),
    };
  });
}
