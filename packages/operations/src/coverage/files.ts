import { KINDS, type Kind } from '@packhouse/chain';
import type { BundleRow, NetworkDatabase } from '@packhouse/database';
import { entryLine, type SealedEntry } from '@packhouse/manifest';
import { z } from 'zod';
import { fail } from '../operation/fail.js';
import { blockField, limitField, networkField, toPublic } from '../operation/fields.js';
import { findNetwork } from '../operation/find-network.js';
import { read } from '../operation/operation.js';
import { getAuditState } from './status.js';

const kindField = z.enum(KINDS).describe('a kind');
/** Versions of one file that are searched for the entry of the newest. */
const MAX_VERSIONS = 1_000;

export const newestFiles = read({
  name: 'files/newest',
  role: 'viewer',
  sharedForMs: 1_000,
  summary: 'The newest manifest entries of each kind.',
  input: z.object({
    network: networkField,
    limit: limitField(10, 100).describe('entries per kind'),
  }),
  run: async ({ database }, { network: named, limit }) => {
    const network = await findNetwork(database, named);
    const { manifest } = database.network(network);
    const all = await Promise.all(
      KINDS.map(async (kind) => {
        const tip = await manifest.tip(kind);
        return tip === null ? [] : manifest.entries(kind, tip.sequence - limit, limit);
      }),
    );
    return all.flat().sort((a, b) => Date.parse(b.publishedAt) - Date.parse(a.publishedAt));
  },
});

export const locateBlock = read({
  name: 'files/of-block',
  role: 'viewer',
  summary: 'The file of a block by kind, or whether it is staged or missing.',
  input: z.object({ network: networkField, block: blockField }),
  run: async ({ database }, { network: named, block }) => {
    const network = await findNetwork(database, named);
    return Promise.all(
      KINDS.map(async (kind) => {
        const found = await database.network(network).locate(kind, block);
        return {
          kind,
          state: found.state,
          file: found.state === 'published' ? getFacts(found.bundle) : null,
        };
      }),
    );
  },
});

export const showFile = read({
  name: 'files/show',
  role: 'viewer',
  summary: 'A published file by its first block, with its signed manifest entry.',
  input: z.object({ network: networkField, kind: kindField, from: blockField }),
  run: async ({ database }, { network: named, kind, from }) => {
    const network = await findNetwork(database, named);
    const own = database.network(network);
    const row = await findFile(own, network, kind, from);
    const entry = await getEntry(own, row);
    return { ...getFacts(row), entry: entry === undefined ? null : entryLine(entry) };
  },
});

export const listAudits = read({
  name: 'audits',
  role: 'viewer',
  sharedForMs: 1_000,
  summary: 'The last audit of a network, and its replaced files.',
  input: z.object({ network: networkField }),
  run: async ({ database }, { network }) => getAuditState(database, await findNetwork(database, network)),
});

/** The published file with this first block. Throws FILE_UNKNOWN. */
export async function findFile(
  database: NetworkDatabase,
  network: string,
  kind: Kind,
  start: number,
): Promise<BundleRow> {
  const row = await database.bundles.covering(kind, start);
  if (row?.firstBlock === start) return row;
  fail(
    'FILE_UNKNOWN',
    `No file of ${kind} of ${network} starts at block ${start}.`,
    row === null
      ? 'The block is not published.'
      : `The block is in the file ${row.firstBlock}-${row.lastBlock}.`,
  );
}

/** Without the table of fragments, which may be long. */
function getFacts({ fragments, firstParentHash, ...row }: BundleRow) {
  return toPublic(row);
}

/** The manifest entry of this file; undefined: none yet. */
async function getEntry(database: NetworkDatabase, row: BundleRow): Promise<SealedEntry | undefined> {
  const { kind, firstBlock, lastBlock, sha256 } = row;
  const tip = await database.manifest.tip(kind);
  if (tip === null) return undefined;
  const within = { after: -1, last: tip.sequence, limit: MAX_VERSIONS };
  const sequences = await database.manifest.touching(kind, { firstBlock, lastBlock }, within);
  const entries = await database.manifest.entriesAt(kind, sequences);
  return entries.find((entry) => entry.sha256 === sha256);
}
export const listSigningKeys = read({
  name: 'manifest/keys',
  role: 'viewer',
  summary: 'The public keys of the manifest, oldest first.',
  run: async ({ database }) =>
    (await database.manifest.keys()).map(({ publicKey, ...key }) => ({
      ...key,
      publicKey: publicKey.toString('base64'),
    })),
});
