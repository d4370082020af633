import type { FragmentInfo } from '@packhouse/bundle';
import type { BlockRange, Kind } from '@packhouse/chain';
import { getNotProved, getProofs, hashBytes, kindCode } from '../connection/codes.js';
import { type Connections, statement } from '../connection/connections.js';
import type { Fence } from '../connection/leases.js';
import type { NetworkRef } from '../tables/networks/networks.js';
import { abandon } from './abandon.js';
import type { ClientNames } from './client-names.js';
import { readBodies, readInto } from './read-bodies.js';
import { listPartitions, reclaim } from './reclaim.js';
import {
  FRAGMENT,
  STAGED_BLOCK,
  type StagedBlock,
  type StagedBlockRow,
  type StageRequest,
  selectBlocks,
} from './rows.js';
import { segmentStart } from './segments.js';
import { stage } from './stage.js';

/** $1 network id. The partitions are read from the highest down and only until the first row. */
const selectNewest = statement(
  'staging/select-newest',
  `SELECT ${STAGED_BLOCK}
   FROM packhouse.staged_block
   WHERE network_id = $1
   ORDER BY block DESC
   LIMIT 1`,
);

/**
 * $1 network id, $2 kind, $3 first block, $4 last block, $5 first block of the segment of the first (no fragment begins earlier and
 * reaches the start).
 */
const selectFragments = statement(
  'staging/select-fragments',
  `SELECT ${FRAGMENT}
   FROM packhouse.fragment
   WHERE network_id = $1 AND kind = $2 AND first_block BETWEEN $5 AND $4 AND last_block >= $3
   ORDER BY first_block`,
);

/** $1 network id, $2 block: its last abandoned hash, unless another block replaced it. */
const selectAbandoned = statement(
  'staging/select-abandoned',
  `SELECT '0x' || encode(a.hash, 'hex') AS hash, a.abandoned_at AS at
   FROM packhouse.abandoned_block AS a
   WHERE a.network_id = $1 AND a.block = $2
     AND NOT EXISTS (SELECT 1 FROM packhouse.staged_block AS s WHERE s.network_id = $1 AND s.block = $2)
     AND NOT EXISTS (
       SELECT 1 FROM generate_series(0, 7) AS k (kind), LATERAL (
         SELECT last_block FROM packhouse.published_run
         WHERE network_id = $1 AND kind = k.kind AND first_block <= $2
         ORDER BY first_block DESC LIMIT 1
       ) AS r
       WHERE r.last_block >= $2
     )
   ORDER BY a.abandoned_at DESC
   LIMIT 1`,
);

/** $1 network id, $2 block, $3 hash: when it was abandoned, unless the chain came back to it. */
const selectIsAbandoned = statement(
  'staging/select-is-abandoned',
  `SELECT a.abandoned_at AS at
   FROM packhouse.abandoned_block AS a
   WHERE a.network_id = $1 AND a.block = $2 AND a.hash = $3
     AND NOT EXISTS (
       SELECT 1 FROM packhouse.staged_block AS s WHERE s.network_id = $1 AND s.block = $2 AND s.hash = $3
     )`,
);

/** The staging area of a network: blocks and fragments that are not yet in bundles. */
export function createStaging(
  connections: Connections,
  network: NetworkRef,
  clients: ClientNames,
  fence?: Fence,
) {
  const place = async (kind: Kind) => ({
    network: network.name,
    networkId: await network.get(),
    kind: kindCode(kind),
  });
  return {
    /** See stage. */
    stage: async (request: StageRequest) =>
      stage(connections, clients, await network.get(), { ...request, network: network.name }),
    /** Rows of staged blocks within the range, ascending. */
    async blocks({ firstBlock, lastBlock }: BlockRange): Promise<StagedBlock[]> {
      const values = [await network.find(), firstBlock, lastBlock];
      return getBlocks(clients, await connections.query<StagedBlockRow>(selectBlocks, values));
    },
    /** The highest staged block, or null. */
    async newest(): Promise<StagedBlock | null> {
      const rows = await connections.query<StagedBlockRow>(selectNewest, [await network.find()]);
      return (await getBlocks(clients, rows))[0] ?? null;
    },
    /** Fragments without bodies that overlap the range, ascending. */
    async fragments(kind: Kind, { firstBlock, lastBlock }: BlockRange): Promise<FragmentInfo[]> {
      const values = [await network.find(), kindCode(kind), firstBlock, lastBlock, segmentStart(firstBlock)];
      return connections.query(selectFragments, values);
    },
    /** The bodies of fragments by their start blocks (see readBodies). */
    bodies: async (kind: Kind, startBlocks: readonly number[], crcs?: readonly number[]) =>
      readBodies(connections, { ...(await place(kind)), startBlocks, crcs }),
    /** Reads the bodies of fragments to these places (see readInto). */
    readInto: async (kind: Kind, fragments: readonly FragmentInfo[], places: readonly Buffer[]) =>
      readInto(connections, { ...(await place(kind)), fragments, places }),
    /** Drops staged data from the first block up (see abandon). */
    abandon: async (start: number) =>
      abandon(connections, { network: network.name, networkId: await network.get(), start, fence }),
    /** The abandoned hash of this block number; null if there is none or another block replaced it. */
    abandonedAt: async (number: number) =>
      connections.queryOne<{ hash: string; at: Date }>(selectAbandoned, [await network.find(), number]),
    /** When this block was abandoned; null if it was not, or the chain came back to it. */
    async whenAbandoned(number: number, hash: string): Promise<Date | null> {
      const values = [await network.find(), number, hashBytes(hash)];
      return (await connections.queryOne<{ at: Date }>(selectIsAbandoned, values))?.at ?? null;
    },
    /** Drops what is published (see reclaim). */
    reclaim: async () => reclaim(connections, await network.find()),
  };
}

/** The staging area of all networks. */
export function createAllStaging(connections: Connections) {
  return {
    /** Bytes on disk of all staging partitions. */
    async diskBytes(): Promise<number> {
      const partitions = await connections.query<{ bytes: number }>(listPartitions, [null]);
      return partitions.reduce((sum, partition) => sum + partition.bytes, 0);
    },
  };
}

async function getBlocks(clients: ClientNames, rows: readonly StagedBlockRow[]): Promise<StagedBlock[]> {
  const names = await clients.names(rows.flatMap((row) => row.client ?? []));
  return rows.map(({ not_proved: notProved, ...row }) => ({
    ...row,
    proofs: getProofs(row.proofs),
    notProved: notProved === '' ? undefined : getNotProved(notProved),
    client: row.client === null ? undefined : names.get(row.client),
  }));
}
