import { NO_ENTRY } from '@packhouse/manifest';
import { kindCode } from '../connection/codes.js';
import type { Connections } from '../connection/connections.js';
import type { Database, SigningKeyRow } from '../database.js';
import type { NetworkIds } from '../networks/networks.js';
import { changeKey } from './change-key.js';
import type { OriginIds } from './origins.js';
import { sealPending } from './seal-pending.js';
import { type EntryRow, entryOf, selectEntries } from './select-entries.js';
import { selectKeys } from './select-keys.js';
import { selectLast } from './select-last.js';

/** The part `manifest` of the database. */
export function createManifest(
  connections: Connections,
  ids: NetworkIds,
  origins: OriginIds,
): Database['manifest'] {
  return {
    entries: async (network, kind, after, limit) => {
      const id = await ids.find(network);
      if (id === undefined) return [];
      // One row before the page, for the hash that its first entry goes on from.
      const values = [id, kindCode(kind), after, after + limit];
      const rows = await connections.query<EntryRow>(selectEntries, values);
      let previous = NO_ENTRY;
      return rows.flatMap((row) => {
        const entry = row.sequence > after ? [entryOf(row, previous)] : [];
        previous = row.hash.toString('hex');
        return entry;
      });
    },
    tip: async (network, kind) => {
      const id = await ids.find(network);
      if (id === undefined) return null;
      const rows = await connections.query<{ sequence: number; hash: Buffer }>(selectLast, [
        id,
        kindCode(kind),
      ]);
      const [row] = rows;
      return row === undefined ? null : { sequence: row.sequence, hash: row.hash.toString('hex') };
    },
    sealPending: async (network, kind, signer, limit) => {
      const networkId = await ids.find(network);
      if (networkId === undefined) return 0;
      return sealPending({ connections, origins }, { networkId, network, kind }, signer, limit);
    },
    keys: () => connections.query<SigningKeyRow>(selectKeys, []),
    registerKey: (publicKey) => changeKey(connections, publicKey, { retire: false }),
    rotateKey: (publicKey) => changeKey(connections, publicKey, { retire: true }),
  };
}
