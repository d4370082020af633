import { objectKey } from '@packhouse/bundle';
import { PackhouseError } from '@packhouse/runtime';
import { kindCode } from '../connection/codes.js';
import { type Session, statement } from '../connection/connections.js';
import {
  BUNDLE_COLUMNS,
  type BundleRow,
  type Named,
  type NewBundle,
  STORED_BUNDLE,
  type StoredBundle,
  toBundle,
} from '../tables/published/bundles.js';
import { readTip } from '../tables/published/log-tip.js';
import { appendEntry } from './append-entry.js';
import { bundleValues, checkCover, insertBundle, lockKind } from './insert-bundle.js';
import type { PublishTools, Sealing } from './publish.js';

/** $1 network id, $2 kind, $3 first block. */
const selectBundleAt = statement(
  'publish/select-bundle-at',
  `SELECT ${STORED_BUNDLE}
   FROM packhouse.bundle
   WHERE network_id = $1 AND kind = $2 AND first_block = $3`,
);

/** $1 network id, $2 kind, $3 first block, $4 reason: copies the bundle to the superseded ones. */
const insertSuperseded = statement(
  'publish/insert-superseded',
  `INSERT INTO packhouse.superseded_bundle (network_id, ${BUNDLE_COLUMNS}, superseded_at, reason)
   SELECT network_id, ${BUNDLE_COLUMNS}, clock_timestamp(), $4::text
   FROM packhouse.bundle
   WHERE network_id = $1 AND kind = $2 AND first_block = $3`,
);

/** $1 network id, $2 kind, $3 first block. */
const deleteBundle = statement(
  'publish/delete-bundle',
  'DELETE FROM packhouse.bundle WHERE network_id = $1 AND kind = $2 AND first_block = $3',
);

/** $1 network id, $2 kind: adds one to the count of superseded bundles. */
const updateSuperseded = statement(
  'publish/update-superseded',
  'UPDATE packhouse.published SET superseded = superseded + 1 WHERE network_id = $1 AND kind = $2',
);

/** The database's time in whole milliseconds. */
export const selectClock = statement(
  'publish/select-clock',
  `SELECT date_trunc('milliseconds', clock_timestamp()) AS now`,
);

/**
 * Replaces a bundle by a newer version in one transaction: the old row moves to the superseded ones, the new one
 * gets the next version, and the manifest gets an entry that names the superseded file. Repeating it changes
 * nothing. The new bundle must have the same range and another object key. Throws BUNDLE_CHANGED if `replaces`
 * (hex SHA-256) is no longer the current file of this range, SIGNING_KEY_CHANGED.
 *
 * ```
 * lock the kind → current row = `replaces`? ─no─▶ BUNDLE_CHANGED (or it is this one already: done)
 *                        │yes
 *                        ▼
 *   copy to superseded_bundle → delete → insert the new row → append the entry → commit
 * ```
 */
export async function supersede(
  { connections, origins }: PublishTools,
  networkId: number,
  bundle: Named<NewBundle>,
  { sealing, replaces, reason }: { replaces: string; reason: string; sealing?: Sealing },
): Promise<BundleRow> {
  checkCover(bundle);
  const kind = kindCode(bundle.kind);
  const seal = sealing && {
    networkId,
    signer: sealing.signer,
    origin: await origins.get(sealing.signer.producer, sealing.clients),
  };
  return connections.transaction(async (session) => {
    await session.query(lockKind, [networkId, kind, seal === undefined ? 'no' : 'yes']);
    const current = await bundleAt(session, networkId, bundle);
    if (current !== null && isSame(current, bundle)) return current;
    checkReplaces(current, bundle, replaces);

    await moveToSuperseded(session, networkId, bundle, reason);
    const version = current.version + 1;
    const tip = seal === undefined ? null : await readTip(session, { networkId, kind }, seal.signer);
    const publishedAt = tip?.now ?? (await session.queryOne<{ now: Date }>(selectClock, []))!.now;
    const row = { ...bundle, version, publishedAt };
    await session.query(insertBundle, bundleValues(networkId, bundle, row));
    if (seal !== undefined && tip !== null) {
      await appendEntry(session, tip, { ...seal, row: { ...row, supersedes: replaces } });
    }
    return row;
  });
}

/** Moves the bundle that starts there to the superseded ones; the kind's lock must be held. */
export async function moveToSuperseded(
  session: Session,
  networkId: number,
  { kind, firstBlock }: Pick<NewBundle, 'kind' | 'firstBlock'>,
  reason: string,
): Promise<void> {
  const at = [networkId, kindCode(kind), firstBlock];
  await session.query(insertSuperseded, [...at, reason]);
  await session.query(deleteBundle, at);
  await session.query(updateSuperseded, at.slice(0, 2));
}

/** The current bundle that starts where this one does, or null. */
export async function bundleAt(
  session: Session,
  networkId: number,
  bundle: Pick<Named<NewBundle>, 'network' | 'kind' | 'firstBlock'>,
): Promise<BundleRow | null> {
  const values = [networkId, kindCode(bundle.kind), bundle.firstBlock];
  const row = await session.queryOne<StoredBundle>(selectBundleAt, values);
  return row && toBundle(bundle.network, row);
}

function isSame(current: BundleRow, bundle: Named<NewBundle>): boolean {
  return (
    current.lastBlock === bundle.lastBlock &&
    current.objectKey === bundle.objectKey &&
    current.sha256 === bundle.sha256 &&
    current.version > 1
  );
}

function checkReplaces(
  current: BundleRow | null,
  { network, kind, firstBlock, lastBlock, objectKey: given }: Named<NewBundle>,
  replaces: string,
): asserts current is BundleRow {
  const changed = (why: string, hint: string, data: object = {}): PackhouseError =>
    new PackhouseError({
      code: 'BUNDLE_CHANGED',
      message: `Bundle ${firstBlock}-${lastBlock} (${kind} of ${network}) ${why}.`,
      hint,
      data: { network, kind, from: firstBlock, to: lastBlock, ...data },
    });
  if (current === null || current.lastBlock !== lastBlock) {
    throw changed(
      `cannot be replaced: ${current === null ? 'no bundle starts there' : `the one published there is ${current.firstBlock}-${current.lastBlock}`}`,
      'Read the index again; a new version has the range of the one it replaces.',
    );
  }
  const { sha256, version } = current;
  const again = 'Somebody else replaced it meanwhile: look at it again.';
  if (sha256 !== replaces) {
    throw changed(
      `was to be replaced as the file with sha256 ${replaces}, but the published one is version ${version} with sha256 ${sha256}`,
      again,
      { expected: replaces, got: sha256, version },
    );
  }
  const key = objectKey({ network, kind, firstBlock, lastBlock, version: version + 1 });
  if (given === key) return;
  throw changed(
    `would be replaced by the object ${given}, expected ${key} for the version after ${version}`,
    again,
    { expected: key, got: given, version },
  );
}
