import { objectKey } from '@packhouse/bundle';
import { PackhouseError } from '@packhouse/runtime';
import { kindCode } from '../connection/codes.js';
import { type Session, statement } from '../connection/connections.js';
import type { BundleRow, Named, NewBundle, Sealing } from '../contract/rows.js';
import { BUNDLE_COLUMNS, bundleOf, type StoredBundle } from '../tables/bundles.js';
import { appendEntry, readTip } from './append-entry.js';
import { bundleValues, checkCover, insertBundle, lockKind } from './insert-bundle.js';
import type { PublishTools } from './publish.js';

/** $1 network id, $2 kind, $3 start. */
const selectBundleAt = statement(
  'publish/select-bundle-at',
  `SELECT ${BUNDLE_COLUMNS}
   FROM packhouse.bundle
   WHERE network_id = $1 AND kind = $2 AND start_block = $3`,
);

/** $1 network id, $2 kind, $3 start, $4 reason: copies the bundle to the superseded ones. */
const insertSuperseded = statement(
  'publish/insert-superseded',
  `INSERT INTO packhouse.superseded_bundle (network_id, ${BUNDLE_COLUMNS}, superseded_at, reason)
   SELECT network_id, ${BUNDLE_COLUMNS}, clock_timestamp(), $4::text
   FROM packhouse.bundle
   WHERE network_id = $1 AND kind = $2 AND start_block = $3`,
);

/** $1 network id, $2 kind, $3 start. */
const deleteBundle = statement(
  'publish/delete-bundle',
  'DELETE FROM packhouse.bundle WHERE network_id = $1 AND kind = $2 AND start_block = $3',
);

/** $1 network id, $2 kind: adds one to the count of superseded bundles. */
const updateSuperseded = statement(
  'publish/update-superseded',
  'UPDATE packhouse.published SET superseded = superseded + 1 WHERE network_id = $1 AND kind = $2',
);

/** The database's time in whole milliseconds. */
const selectClock = statement(
  'publish/select-clock',
  `SELECT date_trunc('milliseconds', clock_timestamp()) AS now`,
);

/**
 * Replaces a bundle by a newer version (see NetworkDatabase.bundles.supersede).
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

    const at = [networkId, kind, bundle.start];
    await session.query(insertSuperseded, [...at, reason]);
    await session.query(deleteBundle, at);
    await session.query(updateSuperseded, [networkId, kind]);
    const version = current.version + 1;
    const tip = seal === undefined ? null : await readTip(session, { networkId, kind }, seal.signer);
    const publishedAt = tip?.now ?? (await readClock(session));
    const row = { ...bundle, version, publishedAt };
    await session.query(insertBundle, bundleValues(networkId, bundle, row));
    if (seal !== undefined && tip !== null) {
      await appendEntry(session, tip, { ...seal, row: { ...row, supersedes: replaces } });
    }
    return row;
  });
}

async function readClock(session: Session): Promise<Date> {
  const [row] = await session.query<{ now: Date }>(selectClock, []);
  return (row as { now: Date }).now;
}

async function bundleAt(
  session: Session,
  networkId: number,
  bundle: Named<NewBundle>,
): Promise<BundleRow | null> {
  const values = [networkId, kindCode(bundle.kind), bundle.start];
  const [row] = await session.query<StoredBundle>(selectBundleAt, values);
  return row === undefined ? null : bundleOf(bundle.network, row);
}

function isSame(current: BundleRow, bundle: Named<NewBundle>): boolean {
  return (
    current.end === bundle.end &&
    current.objectKey === bundle.objectKey &&
    current.sha256 === bundle.sha256 &&
    current.version > 1
  );
}

function checkReplaces(
  current: BundleRow | null,
  bundle: Named<NewBundle>,
  replaces: string,
): asserts current is BundleRow {
  const { network, kind, start, end } = bundle;
  const shown = `Bundle ${start}-${end} (${kind} of ${network})`;
  if (current === null || current.end !== end) {
    throw new PackhouseError({
      code: 'BUNDLE_CHANGED',
      message: `${shown} cannot be replaced: ${current === null ? 'no bundle starts there' : `the one published there is ${current.start}-${current.end}`}.`,
      hint: 'Read the index again; a new version has the range of the one it replaces.',
      data: { network, kind, start, end },
    });
  }
  if (current.sha256 !== replaces) {
    throw new PackhouseError({
      code: 'BUNDLE_CHANGED',
      message: `${shown} was to be replaced as the file with sha256 ${replaces}, but the published one is version ${current.version} with sha256 ${current.sha256}.`,
      hint: 'Somebody else replaced it meanwhile: look at it again.',
      data: { network, kind, start, end, expected: replaces, got: current.sha256, version: current.version },
    });
  }
  const key = objectKey({ network, kind, start, end, version: current.version + 1 });
  if (bundle.objectKey === key) return;
  throw new PackhouseError({
    code: 'BUNDLE_CHANGED',
    message: `${shown} would be replaced by the object ${bundle.objectKey}, expected ${key} for the version after ${current.version}.`,
    hint: 'Somebody else replaced it meanwhile: look at it again.',
    data: { network, kind, start, end, expected: key, got: bundle.objectKey, version: current.version },
  });
}
