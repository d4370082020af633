import type { KeyObject } from 'node:crypto';
import { KINDS, type Kind } from '@packhouse/chain';
import type { Database } from '@packhouse/database';
import { checkSeal, getKeyId, parseEntry, type SealedEntry } from '@packhouse/manifest';
import type { ObjectStore } from '@packhouse/object-store';
import { MANIFEST_REWOUND, type SignerSource, withoutPackers, withSigner } from '@packhouse/pipeline';
import { type Context, isPackhouseError, PackhouseError } from '@packhouse/runtime';
import { createReport } from '../audit/audit-report.js';
import { checkManifest } from '../audit/check-manifest.js';
import { ADOPTIONS, type Adoption, adoptLog } from './adopt-log.js';
import { listParts } from './list-parts.js';

interface AdoptParts {
  context: Context;
  database: Database;
  objectStore: ObjectStore;
  /** The keys whose entries are believed. */
  keys: ReadonlyMap<string, KeyObject>;
  /** Signs new entries; without it a packer does. */
  signers?: SignerSource | undefined;
}

interface AdoptRequest {
  network: string;
  /** Nothing is changed. */
  dryRun: boolean;
  onEntry?(adoption: Adoption, entry: SealedEntry | null, fault: string | null): void;
}

export interface AdoptSummary {
  network: string;
  counts: Record<Adoption, number>;
  /** What else was changed in this time is lost as well; null: no entry was. `since` null: from the beginning. */
  lost: { since: string | null; until: string } | null;
  /** Sentences about logs that are still not whole. */
  broken: string[];
}

/**
 * Rebuilds index and manifest of a network from the object store, after the database was set back or lost: what the
 * signed log in the store names, and the database does not. Repeating it changes nothing. Throws PACKERS_BUSY,
 * ADOPT_EMPTY if the store has no log, SIGNING_KEY_CHANGED, and errors of store and database.
 */
export async function adopt(
  parts: AdoptParts,
  { network, dryRun, onEntry }: AdoptRequest,
  signal: AbortSignal,
): Promise<AdoptSummary> {
  const { database, objectStore } = parts;
  const newest = await newestEntries(parts, network, signal);
  const last = newest.sort((a, b) => a.publishedAt.localeCompare(b.publishedAt)).at(-1);
  if (last === undefined) throw nothingSigned(network, objectStore, parts.keys);
  if (!dryRun) {
    await database.networks.register({ id: network, chainId: last.chainId });
    await keepKeys(database, parts.keys, last);
  }
  const counts = Object.fromEntries(ADOPTIONS.map((adoption) => [adoption, 0])) as Record<Adoption, number>;
  const summary: AdoptSummary = { network, counts, lost: null, broken: [] };
  for (const kind of KINDS) {
    const lost = createLoss();
    const log = { network, kind };
    const run = (stop: AbortSignal): Promise<void> =>
      withSigner(parts.signers, (signer) =>
        adoptLog(
          {
            ...parts,
            signer,
            dryRun,
            onEntry(adoption, entry, fault) {
              counts[adoption] += 1;
              if (entry !== null && (adoption === 'restored' || adoption === 'readopted')) lost.add(entry);
              onEntry?.(adoption, entry, fault);
            },
          },
          log,
          stop,
        ),
      );
    await (dryRun ? run(signal) : withoutPackers(parts, `${network}:${kind}`, signal, run));
    summary.lost = await lost.join(database, log, summary.lost);
    if (!dryRun) {
      const report = createReport({ onFinding: ({ message }) => summary.broken.push(message) });
      await checkManifest({ database, report }, log, signal);
    }
  }
  if (!dryRun) await database.network(network).alarms.clear(MANIFEST_REWOUND, 'itself');
  return summary;
}

/** The last entry of each log in the store that a trusted key signed. */
async function newestEntries(
  { objectStore, keys }: AdoptParts,
  network: string,
  signal: AbortSignal,
): Promise<SealedEntry[]> {
  const newest: SealedEntry[] = [];
  for (const kind of KINDS) {
    const parts = await listParts(objectStore, { network, kind }, signal);
    for (const { key } of parts.sort((a, b) => b.writtenAt - a.writtenAt || b.last - a.last)) {
      const lines = (await objectStore.read(key, { signal })).toString().trimEnd().split('\n');
      const entry = readTrusted(lines.at(-1) as string, keys);
      if (entry?.network !== network) continue;
      newest.push(entry);
      break;
    }
  }
  return newest;
}

function readTrusted(line: string, keys: ReadonlyMap<string, KeyObject>): SealedEntry | null {
  try {
    const entry = parseEntry(line, 'The last entry');
    checkSeal(entry, keys);
    return entry;
  } catch (error) {
    if (!isPackhouseError(error, 'MANIFEST_INVALID')) throw error;
    return null;
  }
}

/**
 * Stores the trusted keys that the database lacks, as retired. That of the newest entry becomes the current one unless the
 * database has a key that was made after it: new packers made that.
 */
async function keepKeys(
  database: Database,
  keys: ReadonlyMap<string, KeyObject>,
  newest: SealedEntry,
): Promise<void> {
  const rows = await database.manifest.keys();
  const known = new Set(rows.map(({ publicKey }) => getKeyId(publicKey)));
  const current = rows.find(({ retiredAt }) => retiredAt === null);
  const isOver = (current?.createdAt.toISOString() ?? '') < newest.publishedAt;
  const raw = (id: string): Buffer =>
    Buffer.from((keys.get(id) as KeyObject).export({ format: 'jwk' }).x as string, 'base64url');
  for (const id of keys.keys()) {
    if (known.has(id)) continue;
    if (id === newest.keyId && isOver) await database.manifest.rotateKey(raw(id));
    else await database.manifest.keepKey(raw(id));
  }
}

/** The time in which the database lost what was committed. */
function createLoss() {
  let first: SealedEntry | null = null;
  let until = '';
  return {
    add(entry: SealedEntry): void {
      if (first === null || entry.sequence < first.sequence) first = entry;
      if (entry.publishedAt > until) until = entry.publishedAt;
    },
    /** Joined with that of other logs. */
    async join(
      database: Database,
      { network, kind }: { network: string; kind: Kind },
      other: AdoptSummary['lost'],
    ): Promise<AdoptSummary['lost']> {
      const entry = first as SealedEntry | null;
      if (entry === null) return other;
      const [before] = await database.network(network).manifest.entriesAt(kind, [entry.sequence - 1]);
      const since = before?.publishedAt ?? null;
      if (other === null) return { since, until };
      // What it kept of any log was committed before it was set back.
      const later = (since ?? '') > (other.since ?? '') ? since : other.since;
      return { since: later, until: until > other.until ? until : other.until };
    },
  };
}

function nothingSigned(
  network: string,
  store: ObjectStore,
  keys: ReadonlyMap<string, KeyObject>,
): PackhouseError {
  return new PackhouseError({
    code: 'ADOPT_EMPTY',
    message: `${store.description} has no entry of a manifest of ${network} that a trusted key signed (${[...keys.keys()].join(', ') || 'none is given'}).`,
    hint: 'Check OBJECT_STORE and the network; give the public keys with --trust-key-file.',
    data: { network, keys: [...keys.keys()] },
  });
}
