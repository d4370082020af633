import type { Kind } from '@packhouse/chain';
import { hashText, kindCode, notProvedOf, proofsOf } from '../connection/codes.js';
import { type Connections, statement } from '../connection/connections.js';
import type { Database, NetworkDatabase } from '../contract/database.js';
import type { StagedBlock } from '../contract/rows.js';
import type { NetworkRef } from '../tables/networks.js';
import { abandon } from './abandon.js';
import type { ClientNames } from './client-names.js';
import { readBodies, readInto } from './read-bodies.js';
import { listPartitions, reclaim } from './reclaim.js';
import { type FragmentRow, fragmentInfo, type StagedBlockRow, selectBlocks } from './rows.js';
import { segmentStart } from './segments.js';
import { stage } from './stage.js';

/** $1 network id. The partitions are read from the highest down and only until the first row. */
const selectNewest = statement(
  'staging/select-newest',
  `SELECT block, hash, parent_hash, timestamp, transaction_count, proofs, client, not_proved
   FROM packhouse.staged_block
   WHERE network_id = $1
   ORDER BY block DESC
   LIMIT 1`,
);

/**
 * $1 network id, $2 kind, $3 start, $4 end, $5 first block of the start's segment (no fragment begins earlier and
 * reaches the start).
 *
 * octet_length of an EXTERNAL value reads its pointer, not its bytes.
 */
const selectFragments = statement(
  'staging/select-fragments',
  `SELECT block, end_block, octet_length(body) AS byte_length, raw_length, crc32
   FROM packhouse.fragment
   WHERE network_id = $1 AND kind = $2 AND block BETWEEN $5 AND $4 AND end_block >= $3
   ORDER BY block`,
);

/** $1 network id, $2 block: its last abandoned hash of the last 24 hours, unless another block replaced it. */
const selectAbandoned = statement(
  'staging/select-abandoned',
  `SELECT a.hash, a.abandoned_at
   FROM packhouse.abandoned_block AS a
   WHERE a.network_id = $1 AND a.block = $2 AND a.abandoned_at >= now() - interval '24 hours'
     AND NOT EXISTS (SELECT 1 FROM packhouse.staged_block AS s WHERE s.network_id = $1 AND s.block = $2)
     AND NOT EXISTS (
       SELECT 1 FROM generate_series(0, 7) AS k (kind), LATERAL (
         SELECT end_block FROM packhouse.published_run
         WHERE network_id = $1 AND kind = k.kind AND start_block <= $2
         ORDER BY start_block DESC LIMIT 1
       ) AS r
       WHERE r.end_block >= $2
     )
   ORDER BY a.abandoned_at DESC
   LIMIT 1`,
);

/** The staging area of a network: blocks and fragments that are not yet in bundles. */
export function createStaging(
  connections: Connections,
  network: NetworkRef,
  clients: ClientNames,
): NetworkDatabase['staging'] {
  const place = async (kind: Kind) => ({
    network: network.name,
    networkId: await network.get(),
    kind: kindCode(kind),
  });
  return {
    stage: async (request) =>
      stage(connections, clients, await network.get(), { ...request, network: network.name }),
    blocks: async ({ start, end }) => {
      const values = [await network.find(), start, end];
      return blocksOf(clients, await connections.query<StagedBlockRow>(selectBlocks, values));
    },
    newest: async () => {
      const rows = await connections.query<StagedBlockRow>(selectNewest, [await network.find()]);
      return (await blocksOf(clients, rows))[0] ?? null;
    },
    fragments: async (kind, { start, end }) => {
      const values = [await network.find(), kindCode(kind), start, end, segmentStart(start)];
      return (await connections.query<FragmentRow>(selectFragments, values)).map(fragmentInfo);
    },
    bodies: async (kind, startBlocks, crcs) =>
      readBodies(connections, { ...(await place(kind)), startBlocks, crcs }),
    readInto: async (kind, fragments, places) =>
      readInto(connections, { ...(await place(kind)), fragments, places }),
    abandon: async (start) =>
      abandon(connections, { network: network.name, networkId: await network.get(), start }),
    abandonedAt: async (number) => {
      const values = [await network.find(), number];
      const [row] = await connections.query<{ hash: Buffer; abandoned_at: Date }>(selectAbandoned, values);
      return row === undefined ? null : { hash: hashText(row.hash), at: row.abandoned_at };
    },
    reclaim: async () => reclaim(connections, await network.find()),
  };
}

/** The staging area of all networks. */
export function createAllStaging(connections: Connections): Database['staging'] {
  return {
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
      ...(row.not_proved === '' ? {} : { notProved: notProvedOf(row.not_proved) }),
      ...(client === undefined ? {} : { client }),
    };
  });
}
