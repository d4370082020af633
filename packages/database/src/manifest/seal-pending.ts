import type { Signer } from '@packhouse/manifest';
import { bundleOf } from '../bundles/bundle-row.js';
import { lockKind } from '../bundles/lock-kind.js';
import { kindCode } from '../connection/codes.js';
import type { Connections } from '../connection/connections.js';
import { appendEntry, readTip } from './append-entry.js';
import { deletePending } from './delete-pending.js';
import type { OriginIds } from './origins.js';
import { type PendingRow, selectPending } from './select-pending.js';

/** Appends entries of bundles that have none (see Database.manifest.sealPending). */
export async function sealPending(
  { connections, origins }: { connections: Connections; origins: OriginIds },
  { networkId, network, kind }: { networkId: number; network: string; kind: Parameters<typeof kindCode>[0] },
  signer: Signer,
  limit: number,
): Promise<number> {
  const log = [networkId, kindCode(kind)];
  // Almost always there is none: no lock for that.
  if ((await connections.query<PendingRow>(selectPending, [...log, 1])).length === 0) return 0;
  const origin = await origins.get(signer.producer, []);
  return connections.transaction(async (session) => {
    await session.query(lockKind, [...log, 'yes']);
    const rows = await session.query<PendingRow>(selectPending, [...log, limit]);
    let tip = await readTip(session, { networkId, kind: kindCode(kind) }, signer);
    let appended = 0;
    for (const row of rows) {
      if (row.sha256 === null) continue;
      const bundle = bundleOf(network, row);
      // An entry says whole milliseconds; the row of an older program has microseconds.
      const publishedAt = new Date(Math.floor(bundle.publishedAt.getTime()));
      const supersedes = row.supersedes?.toString('hex') ?? null;
      tip = await appendEntry(session, tip, {
        ...{ networkId, signer, origin },
        row: { ...bundle, publishedAt, supersedes },
      });
      appended += 1;
    }
    await session.query(deletePending, [
      ...log,
      rows.map((row) => row.pending_start),
      rows.map((row) => row.pending_version),
    ]);
    return appended;
  });
}
