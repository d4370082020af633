import type { Kind } from '@packhouse/chain';
import { getKeyId, type SealedEntry, type Signer } from '@packhouse/manifest';
import { PackhouseError } from '@packhouse/runtime';
import { getProofs, kindCode, proofsMask } from '../connection/codes.js';
import { type Session, statement } from '../connection/connections.js';
import { type Named, type NewBundle, publishedRanges } from '../tables/published/bundles.js';
import { readTip } from '../tables/published/log-tip.js';
import { appendEntry, putEntry } from './append-entry.js';
import { bundleValues, checkCover, insertBundle, lockKind } from './insert-bundle.js';
import type { PublishTools } from './publish.js';
import { bundleAt, moveToSuperseded, selectClock } from './supersede.js';

/* Takes published bundles in again that the database lost: from their signed entries, and the files themselves. */

/** $1 network id, $2 kind, $3 sequence. */
const selectHash = statement(
  'publish/select-hash',
  `SELECT encode(hash, 'hex') AS hash FROM packhouse.manifest WHERE network_id = $1 AND kind = $2 AND sequence = $3`,
);

/** $1 key id. */
const selectKey = statement('publish/select-key', 'SELECT id FROM packhouse.signing_key WHERE key_id = $1');

/** $1 key id, $2 public key: as one that signs no more. */
const insertRetired = statement(
  'publish/insert-retired',
  `INSERT INTO packhouse.signing_key (key_id, public_key, retired_at)
   VALUES ($1, $2, clock_timestamp())
   ON CONFLICT DO NOTHING`,
);

/** The reason of versions that were superseded before the loss. */
const REASON = 'The signed log has a newer version; the reason was lost.';

interface Log {
  networkId: number;
  network: string;
  kind: Kind;
}

/** A signed entry, and the bundle whose file it names; null: the file is missing or another. */
export interface Restored {
  entry: SealedEntry;
  bundle: NewBundle | null;
}

/** Stores the public key of entries that were signed before; it signs no new ones unless it is the current one already. */
export async function keepKey({ connections }: PublishTools, publicKey: Buffer): Promise<void> {
  await connections.query(insertRetired, [getKeyId(publicKey), publicKey]);
}

/**
 * Puts an entry back in its very place of the log, with the row of its bundle; what is there already stays. Returns
 * false, and changes nothing, if the log has another entry there, or does not have the one before it.
 */
export async function restoreEntry(
  { connections, origins }: PublishTools,
  { networkId, network, kind }: Log,
  { entry, bundle }: Restored,
): Promise<boolean> {
  const origin = await origins.get(entry.producer, entry.clients);
  checkText(entry, origin.clients);
  return connections.transaction(async (session) => {
    await session.query(lockKind, [networkId, kindCode(kind), 'yes']);
    const place = [networkId, kindCode(kind), entry.sequence];
    const there = await session.queryOne<{ hash: string }>(selectHash, place);
    if (there !== null && there.hash !== entry.hash) return false;
    if (there === null) {
      const key = await session.queryOne<{ id: number }>(selectKey, [entry.keyId]);
      if (key === null) throw new Error(`no key of the database has the id ${entry.keyId}`);
      if (!(await putEntry(session, { networkId, origin: origin.id, key: key.id }, entry))) return false;
    }
    if (bundle !== null) {
      const first = { version: entry.version, publishedAt: new Date(entry.publishedAt) };
      await placeBundle(session, networkId, { ...bundle, network }, first);
    }
    return true;
  });
}

/**
 * Publishes a bundle of a lost branch of the log under a new entry, with the same object and version; without `signer`
 * the entry waits for `manifest.sealPending`. Returns false if its blocks are published by other bundles.
 */
export async function adoptBundle(
  { connections, origins }: PublishTools,
  { networkId, network, kind }: Log,
  { entry, bundle }: { entry: SealedEntry; bundle: NewBundle },
  signer: Signer | undefined,
): Promise<boolean> {
  const origin = signer && (await origins.get(signer.producer, entry.clients));
  return connections.transaction(async (session) => {
    await session.query(lockKind, [networkId, kindCode(kind), signer === undefined ? 'no' : 'yes']);
    const tip = signer && (await readTip(session, { networkId, kind: kindCode(kind) }, signer));
    const publishedAt = tip?.now ?? (await session.queryOne<{ now: Date }>(selectClock, []))!.now;
    const row = { ...bundle, network, version: entry.version, publishedAt };
    const placed = await placeBundle(session, networkId, row, row);
    if (placed === null) return false;
    if (signer !== undefined && tip !== undefined && origin !== undefined) {
      await appendEntry(session, tip, { networkId, signer, origin, row: { ...row, ...placed } });
    }
    return true;
  });
}

/**
 * Inserts the row of a bundle, also in the place of an older version of the same range. Returns the SHA-256 of the file
 * that it superseded; null, and inserts nothing, if other bundles cover its blocks, or a version that is not older.
 */
async function placeBundle(
  session: Session,
  networkId: number,
  bundle: Named<NewBundle>,
  first: { version: number; publishedAt: Date },
): Promise<{ supersedes: string | null } | null> {
  checkCover(bundle);
  const current = await bundleAt(session, networkId, bundle);
  const older = current?.lastBlock === bundle.lastBlock && current.version < first.version ? current : null;
  if (older !== null) await moveToSuperseded(session, networkId, bundle, REASON);
  else if ((await publishedRanges(session, networkId, bundle.kind, bundle)).length > 0) return null;
  await session.query(insertBundle, bundleValues(networkId, bundle, first));
  return { supersedes: older?.sha256 ?? null };
}

/** Throws MANIFEST_INVALID unless the text of the entry can be made of its row again. */
function checkText({ network, kind, sequence, ...entry }: SealedEntry, clients: readonly string[]): void {
  const same = (a: readonly string[], b: readonly string[]): boolean =>
    JSON.stringify(a) === JSON.stringify(b);
  if (same(entry.clients, clients) && same(entry.proofs, getProofs(proofsMask(entry.proofs)))) return;
  throw new PackhouseError({
    code: 'MANIFEST_INVALID',
    message: `Entry ${sequence} of the manifest of ${kind} of ${network} lists its clients or proofs in another order than this program does.`,
    hint: 'Use the program that signed it.',
    data: { network, kind, sequence },
  });
}
