import { basename } from 'node:path/posix';
import type { TableName } from '@packhouse/chain';
import { NO_ENTRY, type SealedLakeEntry, type Signer } from '@packhouse/manifest';
import { getTable, tableCode } from '../../connection/codes.js';
import { type Connections, type Session, statement } from '../../connection/connections.js';
import type { NetworkRef } from '../networks/networks.js';
import { readTip } from './log-tip.js';

/** $1 network id, $2 kind, $3 key, $4 snapshot, $5 published at, $6 entries as JSON. */
const insertEntries = statement(
  'lake-log/insert-entries',
  `INSERT INTO packhouse.lake_entry (network_id, kind, key_id, snapshot, published_at, sequence, removes, file,
     first_block, last_block, byte_length, row_count, sha256, sources, hash, signature)
   SELECT $1, $2, $3, $4, $5, sequence, change = 'remove', file, "from", "to", bytes, rows, decode(sha256, 'hex'),
     decode(sources, 'hex'), decode(hash, 'hex'), decode(signature, 'base64')
   FROM jsonb_to_recordset($6::jsonb) AS entry (sequence int4, change text, file text, "from" int8, "to" int8, bytes int8,
     rows int8, sha256 text, sources text, hash text, signature text)`,
);

/** $1 network id, $2 kind, $3 first sequence, $4 last sequence: a walk along the primary key. */
const selectEntries = statement(
  'lake-log/select-entries',
  `SELECT network.name AS network, network.chain_id AS "chainId", e.kind, e.sequence, e.snapshot,
     CASE WHEN e.removes THEN 'remove' ELSE 'add' END AS change, e.file, e.first_block AS "from", e.last_block AS "to",
     encode(e.sha256, 'hex') AS sha256, e.byte_length AS bytes, e.row_count AS rows, encode(e.sources, 'hex') AS sources,
     e.published_at AS "publishedAt", key.key_id AS "keyId", encode(e.hash, 'hex') AS hash,
     translate(encode(e.signature, 'base64'), E'\\n', '') AS signature
   FROM packhouse.lake_entry AS e
   JOIN packhouse.network ON network.id = e.network_id
   JOIN packhouse.signing_key AS key ON key.id = e.key_id
   WHERE e.network_id = $1 AND e.kind = $2 AND e.sequence BETWEEN $3 AND $4
   ORDER BY e.sequence`,
);

/** $1 network id, $2 kind: the end of the primary key. */
const selectLast = statement(
  'lake-log/select-last',
  `SELECT sequence, encode(hash, 'hex') AS hash, translate(encode(signature, 'base64'), E'\\n', '') AS signature
   FROM packhouse.lake_entry WHERE network_id = $1 AND kind = $2
   ORDER BY sequence DESC LIMIT 1`,
);

/** The end of a signed log, as snapshots name it. */
export type SignedHead = { sequence: number; hash: string; signature: string };

/** What an entry says of a file. */
interface LoggedFile {
  firstBlock: number;
  lastBlock: number;
  rows: number;
  bytes: number;
  sha256: string;
  sources: string;
  objectKey: string;
}

/**
 * Appends what a snapshot changes to the signed log of its table, removals first. To be called in the transaction of the
 * snapshot, which has locked the row of the table. Throws SIGNING_KEY_CHANGED.
 */
export async function appendLakeEntries(
  session: Session,
  table: { networkId: number; network: string; kind: TableName; snapshot: number },
  signer: Signer,
  { removed, added }: { removed: readonly LoggedFile[]; added: readonly LoggedFile[] },
): Promise<void> {
  const { networkId, network, kind, snapshot } = table;
  const tip = await readTip(session, { of: 'tables', networkId, kind: tableCode(kind) }, signer);
  let { sequence, hash: previous } = tip;
  const changes = [
    ...[...removed].sort((a, b) => a.firstBlock - b.firstBlock).map((file) => ['remove', file] as const),
    ...added.map((file) => ['add', file] as const),
  ];
  const entries = changes.map(([change, file]) => {
    sequence += 1;
    const { bytes, rows, sha256, sources } = file;
    const entry = signer.seal({
      network,
      chainId: tip.chainId,
      table: kind,
      sequence,
      snapshot,
      change,
      file: basename(file.objectKey),
      from: file.firstBlock,
      to: file.lastBlock,
      sha256,
      bytes,
      rows,
      sources,
      publishedAt: tip.now.toISOString(),
      previous,
      keyId: signer.keyId,
    });
    previous = entry.hash;
    return entry;
  });
  const log = [networkId, tableCode(kind), tip.key, snapshot, tip.now];
  await session.query(insertEntries, [...log, JSON.stringify(entries)]);
}

/** Reads the signed logs of the tables of a network. */
export function createLakeLog(connections: Connections, network: NetworkRef) {
  const place = async (kind: TableName) => [await network.find(), tableCode(kind)];
  return {
    /** Entries after `after` (-1: from the first), `limit` at most, in order. */
    async entries(kind: TableName, after: number, limit: number): Promise<SealedLakeEntry[]> {
      // One row before the page, for the hash that its first entry refers to.
      const values = [...(await place(kind)), after, after + limit];
      const rows = await connections.query<EntryRow>(selectEntries, values);
      const entries = rows.map(
        ({ kind: code, publishedAt, ...row }, at): SealedLakeEntry => ({
          ...row,
          table: getTable(code),
          publishedAt: publishedAt.toISOString(),
          previous: rows[at - 1]?.hash ?? NO_ENTRY,
        }),
      );
      return rows[0]?.sequence === after ? entries.slice(1) : entries;
    },
    /** The newest entry, or null. */
    tip: async (kind: TableName) => connections.queryOne<SignedHead>(selectLast, await place(kind)),
  };
}

type EntryRow = Omit<SealedLakeEntry, 'table' | 'publishedAt' | 'previous'> & {
  kind: number;
  publishedAt: Date;
};
