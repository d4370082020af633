import type { KeyObject } from 'node:crypto';
import type { Kind } from '@packhouse/chain';
import type { Database, NewBundle } from '@packhouse/database';
import { checkSeal, parseEntry, type SealedEntry, type Signer } from '@packhouse/manifest';
import type { ObjectStore } from '@packhouse/object-store';
import { isPackhouseError } from '@packhouse/runtime';
import { type LogPart, listParts } from './list-parts.js';
import { keyOfEntry, readPublished } from './read-published.js';

/**
 * What came of a signed entry in the store:
 * - `known`: log and index have it;
 * - `restored`: it is in its very place of the log again, with the row of its bundle;
 * - `readopted`: the log went on without it, and its file has a new entry;
 * - `covered`: other bundles hold its blocks now;
 * - `missing`, `damaged`: its file is not there, or another than it names;
 * - `untrusted`: it is no entry that a trusted key signed.
 */
export const ADOPTIONS = [
  'known',
  'restored',
  'readopted',
  'covered',
  'missing',
  'damaged',
  'untrusted',
] as const;
export type Adoption = (typeof ADOPTIONS)[number];

interface AdoptLogParts {
  database: Database;
  objectStore: ObjectStore;
  /** The keys whose entries are believed. */
  keys: ReadonlyMap<string, KeyObject>;
  /** Signs new entries; without it a packer does. */
  signer: Signer | undefined;
  /** Nothing is changed. */
  dryRun: boolean;
  /** `entry` is null for what is none; `fault` is a sentence. */
  onEntry(adoption: Adoption, entry: SealedEntry | null, fault: string | null): void;
}

/** Files that are read at the same time. */
const AT_ONCE = 4;

type Log = { network: string; kind: Kind };
type Manifest = ReturnType<Database['network']>['manifest'];

/**
 * Takes in again what the signed log in the store names and the database lacks, part after part in the order of the log.
 * Whatever is there already stays: it is safe to repeat, and goes on where a run was killed.
 */
export async function adoptLog(parts: AdoptLogParts, log: Log, signal: AbortSignal): Promise<void> {
  const { manifest } = parts.database.network(log.network);
  const end = { ...((await manifest.tip(log.kind)) ?? { sequence: -1, hash: '' }) };
  for (const part of await listParts(parts.objectStore, log, signal)) {
    signal.throwIfAborted();
    await adoptPart(parts, log, { part, end }, signal);
  }
}

/** `end`: that of the log, as it is or, in a dry run, as it would be. */
async function adoptPart(
  parts: AdoptLogParts,
  { network, kind }: Log,
  { part, end }: { part: LogPart; end: { sequence: number; hash: string } },
  signal: AbortSignal,
): Promise<void> {
  const { manifest, audit } = parts.database.network(network);
  const entries = await readPart(parts, part, signal);
  const starts = [...new Set(entries.map(({ from }) => from))];
  const knownKeys = await audit.knownKeys(kind, starts);
  const logged = await hashesOf(manifest, kind, part);
  const isKnown = (entry: SealedEntry): boolean =>
    logged.get(entry.sequence) === entry.hash && knownKeys.has(keyOfEntry(entry));
  const open = entries.filter((entry) => !isKnown(entry));
  for (const entry of entries) if (isKnown(entry)) parts.onEntry('known', entry, null);

  const reading: Promise<Found>[] = [];
  let next = 0;
  for (const entry of open) {
    while (reading.length < AT_ONCE && next < open.length) {
      const found = find(parts, open[next] as SealedEntry, knownKeys, signal);
      found.catch(() => undefined);
      reading.push(found);
      next += 1;
    }
    const found = await (reading.shift() as Promise<Found>);
    const inLog = logged.get(entry.sequence) === entry.hash;
    const adoption = await adoptOne(parts, { entry, found, inLog, end });
    parts.onEntry(adoption, entry, found.fault);
  }
}

interface Found {
  bundle: NewBundle | null;
  /** Why there is no bundle to take in. */
  without: 'covered' | 'missing' | 'damaged' | null;
  fault: string | null;
}

/** The bundle of an entry, unless its blocks are published by others. */
async function find(
  parts: AdoptLogParts,
  entry: SealedEntry,
  knownKeys: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<Found> {
  const { network, kind, from: firstBlock, to: lastBlock, version } = entry;
  const covered: Found = { bundle: null, without: 'covered', fault: null };
  if (knownKeys.has(keyOfEntry(entry))) return covered;
  const { bundles } = parts.database.network(network);
  const [one, ...more] = await bundles.ranges(kind, { firstBlock, lastBlock });
  const older = one?.firstBlock === firstBlock && one.lastBlock === lastBlock && version > 1;
  if (more.length > 0 || (one !== undefined && !older)) return covered;
  const read = await readPublished(parts, entry, signal);
  if ('bundle' in read) return { bundle: read.bundle, without: null, fault: null };
  return { bundle: null, without: read.missing ? 'missing' : 'damaged', fault: read.fault };
}

async function adoptOne(
  { database, signer, dryRun }: AdoptLogParts,
  {
    entry,
    found,
    inLog,
    end,
  }: { entry: SealedEntry; found: Found; inLog: boolean; end: { sequence: number; hash: string } },
): Promise<Adoption> {
  const { network, kind, sequence, hash } = entry;
  const { bundle, without } = found;
  const { manifest } = database.network(network);
  const restored = dryRun
    ? inLog || (sequence === end.sequence + 1 && (sequence === 0 || entry.previous === end.hash))
    : await manifest.restore(kind, { entry, bundle });
  if (restored) {
    if (!inLog) Object.assign(end, { sequence, hash });
    // Its place in the log is kept though nothing else of it is left.
    if (without === 'covered') return inLog ? 'covered' : 'restored';
    return without ?? 'restored';
  }
  if (bundle === null) return without as Adoption;
  if (dryRun) return 'readopted';
  return (await manifest.adopt(kind, { entry, bundle }, signer)) ? 'readopted' : 'covered';
}

/** The hashes of the entries of the log where a part has its entries. */
async function hashesOf(
  manifest: Manifest,
  kind: Kind,
  { first, last }: LogPart,
): Promise<Map<number, string>> {
  const entries = await manifest.entries(kind, first - 1, last - first + 1);
  return new Map(entries.map(({ sequence, hash }) => [sequence, hash]));
}

/** The entries of a part that are signed by a trusted key; the others are told. */
async function readPart(parts: AdoptLogParts, part: LogPart, signal: AbortSignal): Promise<SealedEntry[]> {
  const { network, kind, key } = part;
  const text = (await parts.objectStore.read(key, { signal })).toString();
  const entries: SealedEntry[] = [];
  for (const [at, line] of text.split('\n').entries()) {
    if (line === '') continue;
    const where = `Line ${at + 1} of ${key}`;
    try {
      const entry = parseEntry(line, where);
      checkSeal(entry, parts.keys);
      if (entry.network === network && entry.kind === kind) entries.push(entry);
      else parts.onEntry('untrusted', entry, `${where} is an entry of ${entry.kind} of ${entry.network}.`);
    } catch (error) {
      if (!isPackhouseError(error, 'MANIFEST_INVALID')) throw error;
      parts.onEntry('untrusted', null, `${where}: ${error.message}`);
    }
  }
  return entries;
}
