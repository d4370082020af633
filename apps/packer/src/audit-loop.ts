import { randomUUID } from 'node:crypto';
import type { Database } from '@packhouse/database';
import type { Network } from '@packhouse/networks';
import type { ObjectStore } from '@packhouse/object-store';
import { scheduledAudit } from '@packhouse/pipeline';
import { type Context, openScope } from '@packhouse/runtime';

interface AuditLoopParts {
  context: Context;
  database: Database;
  objectStore: ObjectStore;
  /** Those in force now. */
  networks(): readonly Network[];
  /** Share of the bundles that each run audits; 0: no audits. */
  share: number;
  /** From the end of a network's run to its next, all packers together. */
  everyMs: number;
  bytesPerSecond: number;
}

/** A network that was never audited is not audited before the process is this old, in milliseconds. */
const SETTLE_MS = 300_000;
/** How often to check whether a run is due, in milliseconds. */
const LOOK_EVERY_MS = 30_000;

/** Audits samples of the published bundles until the context is aborted; one packer at a time does. */
export async function auditLoop(parts: AuditLoopParts): Promise<void> {
  const { context, database, networks, everyMs, share } = parts;
  const { clock } = context;
  if (share === 0) return;
  const firstAt = clock.elapsed() + Math.min(SETTLE_MS, everyMs);
  const lastRun = context.metrics.gauge(
    'packhouse_audit_last_run_seconds',
    'When the newest scheduled audit ended, in Unix seconds',
    ['network'],
  );
  while (!context.signal.aborted) {
    try {
      const lock = await database.tryLock('audit');
      if (lock !== null) {
        try {
          for (const network of networks()) {
            const last = await database.network(network.id).audit.last();
            const due =
              last === null ? clock.elapsed() >= firstAt : clock.now() >= last.finishedAt.getTime() + everyMs;
            if (last !== null) lastRun.set({ network: network.id }, last.finishedAt.getTime() / 1_000);
            if (!due) continue;
            await runOne(parts, network, lock.lost);
          }
        } finally {
          await lock.release();
        }
      }
    } catch (error) {
      if (!context.signal.aborted) context.logger.warn({ err: error }, 'an audit failed; it is tried again');
    }
    await context.clock.sleep(Math.min(LOOK_EVERY_MS, everyMs), context.signal).catch(() => undefined);
  }

  async function runOne(
    { objectStore, bytesPerSecond }: AuditLoopParts,
    { id, proofs }: Network,
    lost: AbortSignal,
  ): Promise<void> {
    const scope = openScope(context.signal, lost);
    const run = await scheduledAudit(
      { context, database, objectStore, policyOf: () => proofs },
      { network: id, share, bytesPerSecond, seed: randomUUID() },
      scope.signal,
    ).finally(() => scope.close());
    if (run === null) return;
    lastRun.set({ network: id }, run.finishedAt.getTime() / 1_000);
    context.logger.info({ ...run }, 'a sample of what is published was audited');
  }
}
