import pg from 'pg';
import { kindCode } from '../connection/codes.js';
import type { NewBundle, Sealing } from '../database.js';
import { appendEntry, readTip, sealBehind, type Tip, tipBehind } from '../manifest/append-entry.js';
import { bundleValues, insertBundle } from './insert-bundle.js';
import { insertSealed } from './insert-sealed.js';
import { lockKind } from './lock-kind.js';
import type { PublishTools, RememberedTip } from './publish-tools.js';

const UNIQUE_VIOLATION = '23505';

/** A tip is remembered for so long, in milliseconds: two clocks drift apart. */
const TIP_MS = 600_000;

/**
 * Inserts a bundle and its entry: in one statement behind the remembered tip, or, where that is not the tip any more,
 * in a transaction that reads it under the kind's lock.
 */
export async function publishSealed(
  tools: PublishTools,
  networkId: number,
  bundle: NewBundle,
  sealing: Sealing,
): Promise<void> {
  const { signer, clients } = sealing;
  const origin = await tools.origins.get(signer.producer, clients);
  const log = `${networkId}/${bundle.kind}`;
  const append = { networkId, signer, origin };
  const remembered = tools.tips.get(log);
  // Forgotten until it is known to be right: whoever comes next meanwhile reads it.
  tools.tips.delete(log);
  const fresh = remembered?.keyId === signer.keyId && performance.now() - remembered.readAt < TIP_MS;
  const tip =
    (fresh ? await attempt(tools, remembered, append, bundle) : null) ??
    (await underLock(tools, append, bundle));
  tools.tips.set(log, { ...tip, keyId: signer.keyId });
}

type Append = Omit<Parameters<typeof appendEntry>[2], 'row'>;

/** One statement; null where it inserted nothing because the tip or the key is another one by now. */
async function attempt(
  { connections }: PublishTools,
  tip: RememberedTip,
  append: Append,
  bundle: NewBundle,
): Promise<RememberedTip | null> {
  // The database's time, as far as this process's clock can tell: the entry is signed before it is sent.
  const publishedAt = new Date(Math.floor(tip.now.getTime() + performance.now() - tip.readAt));
  const first = { version: 1, publishedAt };
  const sealed = sealBehind(tip, { ...append, row: { ...bundle, ...first, supersedes: null } });
  try {
    const rows = await connections.query(insertSealed, [
      ...bundleValues(append.networkId, bundle, first),
      ...[sealed.sequence, append.origin.id, tip.key, sealed.hash, sealed.signature],
    ]);
    return rows.length === 0 ? null : { ...tip, ...tipBehind(tip, sealed) };
  } catch (error) {
    const { cause } = error as { cause?: unknown };
    const taken =
      cause instanceof pg.DatabaseError && cause.code === UNIQUE_VIOLATION && cause.table === 'manifest';
    if (taken) return null;
    throw error;
  }
}

function underLock(
  { connections }: PublishTools,
  append: Append,
  bundle: NewBundle,
): Promise<Tip & { readAt: number }> {
  const kind = kindCode(bundle.kind);
  return connections.transaction(async (session) => {
    await session.query(lockKind, [append.networkId, kind, 'yes']);
    const tip = await readTip(session, { networkId: append.networkId, kind }, append.signer);
    const readAt = performance.now();
    const first = { version: 1, publishedAt: tip.now };
    await session.query(insertBundle, bundleValues(append.networkId, bundle, first));
    const next = await appendEntry(session, tip, {
      ...append,
      row: { ...bundle, ...first, supersedes: null },
    });
    return { ...next, readAt };
  });
}
