import { KINDS, type Kind } from '@packhouse/chain';
import type { BundleRow, NetworkDatabase } from '@packhouse/database';
import { entryLine, type SealedEntry } from '@packhouse/manifest';
import { PackhouseError } from '@packhouse/runtime';
import { z } from 'zod';
import { blockField, limitField, networkField } from './fields.js';
import { findNetwork } from './find-network.js';
import { operation } from './operation.js';
import { auditStanding } from './status.js';

const kindField = z.enum(KINDS).describe('a kind');
/** Versions of one file whose entries are looked through for that of the newest. */
const MOST_VERSIONS = 1_000;

export const newestFiles = operation({
  name: 'files/newest',
  kind: 'read',
  role: 'viewer',
  sharedForMs: 1_000,
  summary: 'The entries of a network that the manifest got last, of each kind, newest first.',
  input: z.object({
    network: networkField,
    limit: limitField(10, 100).describe('entries of a kind, at most'),
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
    return all.flat().sort((a, b) => b.publishedAt.localeCompare(a.publishedAt));
  },
});

export const locateBlock = operation({
  name: 'files/of-block',
  kind: 'read',
  role: 'viewer',
  summary: 'Where the data of a block are: of each kind its file, or that it is staged, or neither.',
  input: z.object({ network: networkField, block: blockField }),
  run: async ({ database }, { network: named, block }) => {
    const network = await findNetwork(database, named);
    return Promise.all(
      KINDS.map(async (kind) => {
        const found = await database.network(network).locate(kind, block);
        return { kind, state: found.state, file: found.state === 'published' ? factsOf(found.bundle) : null };
      }),
    );
  },
});

export const showFile = operation({
  name: 'files/show',
  kind: 'read',
  role: 'viewer',
  summary: 'A published file by the block it begins with, and the signed line of the manifest on it.',
  input: z.object({ network: networkField, kind: kindField, start: blockField }),
  run: async ({ database }, { network: named, kind, start }) => {
    const network = await findNetwork(database, named);
    const own = database.network(network);
    const row = await fileAt(own, network, kind, start);
    const entry = await entryOf(own, row);
    return { ...factsOf(row), entry: entry === undefined ? null : entryLine(entry) };
  },
});

export const listAudits = operation({
  name: 'audits',
  kind: 'read',
  role: 'viewer',
  sharedForMs: 1_000,
  summary: 'Of a network: the last audit, and how many files were published again.',
  input: z.object({ network: networkField }),
  run: async ({ database }, { network }) => auditStanding(database, await findNetwork(database, network)),
});

/** The published file that begins with this block. Throws FILE_UNKNOWN. */
export async function fileAt(
  database: NetworkDatabase,
  network: string,
  kind: Kind,
  start: number,
): Promise<BundleRow> {
  const row = await database.bundles.covering(kind, start);
  if (row?.start === start) return row;
  throw new PackhouseError({
    code: 'FILE_UNKNOWN',
    message: `No published file of ${kind} of ${network} begins with block ${start}.`,
    hint: row === null ? 'The block is in none.' : `The block is in the file ${row.start}-${row.end}.`,
  });
}

/** Without the table of fragments, which may be long. */
function factsOf({
  fragments,
  firstParentHash,
  ...row
}: BundleRow): Omit<BundleRow, 'fragments' | 'firstParentHash'> {
  return row;
}

/** The entry of the manifest on this very file; undefined: it waits for one. */
async function entryOf(database: NetworkDatabase, row: BundleRow): Promise<SealedEntry | undefined> {
  const { kind, start, end, sha256 } = row;
  const tip = await database.manifest.tip(kind);
  if (tip === null) return undefined;
  const within = { after: -1, last: tip.sequence, limit: MOST_VERSIONS };
  const sequences = await database.manifest.touching(kind, { start, end }, within);
  const entries = await database.manifest.entriesAt(kind, sequences);
  return entries.find((entry) => entry.sha256 === sha256);
}
