import { kindsMask, kindsOf } from '../connection/codes.js';
import type { Connections } from '../connection/connections.js';
import type { Database, QuarantineRow } from '../database.js';
import type { NetworkIds } from '../networks/networks.js';
import { deleteQuarantine } from './delete-quarantine.js';
import { selectQuarantine } from './select-quarantine.js';
import { updateNextTry } from './update-next-try.js';
import { upsertQuarantine } from './upsert-quarantine.js';

interface Row {
  block: number;
  kinds: number;
  cause: string;
  message: string;
  upstream: string | null;
  payload_digest: Buffer | null;
  attempts: number;
  first_seen: Date;
  next_try: Date;
}

/** The part `quarantine` of the database. */
export function createQuarantine(connections: Connections, ids: NetworkIds): Database['quarantine'] {
  return {
    put: async ({ network, number, kinds, cause, message, upstream, payloadDigest }) => {
      const digest = payloadDigest === null ? null : Buffer.from(payloadDigest, 'hex');
      const values = [await ids.get(network), number, kindsMask(kinds), cause, message, upstream, digest];
      return quarantineOf(network, (await connections.query<Row>(upsertQuarantine, values))[0]!);
    },
    remove: async (network, number) => {
      const id = await ids.find(network);
      if (id !== undefined) await connections.query(deleteQuarantine, [id, number]);
    },
    retry: async (network, { start, end }) => {
      const id = await ids.find(network);
      return id === undefined ? 0 : (await connections.query(updateNextTry, [id, start, end])).length;
    },
    list: async (network) => {
      const rows = await connections.query<Row & { network: string }>(selectQuarantine, [network ?? null]);
      return rows.map((row) => quarantineOf(row.network, row));
    },
  };
}

function quarantineOf(network: string, row: Row): QuarantineRow {
  return {
    network,
    number: row.block,
    kinds: kindsOf(row.kinds),
    cause: row.cause,
    message: row.message,
    upstream: row.upstream,
    payloadDigest: row.payload_digest === null ? null : row.payload_digest.toString('hex'),
    attempts: row.attempts,
    firstSeen: row.first_seen,
    nextTry: row.next_try,
  };
}
