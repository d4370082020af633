import { randomUUID } from 'node:crypto';
import { scheduledAudit } from '@packhouse/audit';
import type { Database, NewSchedule } from '@packhouse/database';
import type { Network } from '@packhouse/networks';
import type { ObjectStore } from '@packhouse/object-store';
import type { Context } from '@packhouse/runtime';

interface SampledAuditParts {
  context: Context;
  database: Database;
  objectStore: ObjectStore;
  /** Those in force now. */
  networks(): readonly Network[];
  /** Share of the bundles that each run audits; 0: no audits. */
  share: number;
  /** From the beginning of a run to that of the next, all packers together. */
  everyMs: number;
  bytesPerSecond: number;
}

/** The schedule of the setting AUDIT_EVERY. */
interface SampledAudit {
  schedules: NewSchedule[];
  /** Audits a sample of each network. Returns what to note of the run; throws the first error, after all. */
  run(signal: AbortSignal): Promise<string>;
  /** Sets the gauge of the newest audits. */
  report(): Promise<void>;
}

export const SAMPLED_AUDIT = 'audit';

/** Creates the schedule that audits samples of the published bundles. */
export function createSampledAudit(parts: SampledAuditParts): SampledAudit {
  const { context, database, objectStore, networks, share, everyMs, bytesPerSecond } = parts;
  const lastRun = context.metrics.gauge(
    'packhouse_audit_last_run_seconds',
    'When the newest scheduled audit ended, in Unix seconds',
    ['network'],
  );
  const schedule: NewSchedule = {
    name: SAMPLED_AUDIT,
    owner: 'default',
    cron: null,
    zone: null,
    everyMs,
    missed: 'once',
    command: ['audit', '--sample', String(share)],
    setting: 'AUDIT_EVERY',
  };
  return {
    schedules: share === 0 ? [] : [schedule],
    async run(signal) {
      const outcomes: string[] = [];
      const errors: unknown[] = [];
      for (const { id, proofs } of networks()) {
        try {
          const run = await scheduledAudit(
            { context, database, objectStore, getPolicy: () => proofs },
            { network: id, share, bytesPerSecond, seed: randomUUID() },
            signal,
          );
          if (run === null) continue;
          lastRun.set({ network: id }, run.finishedAt.getTime() / 1_000);
          context.logger.info({ ...run }, 'a sample of what is published was audited');
          outcomes.push(`${id}: ${run.bundles} bundles, ${run.findings} findings`);
        } catch (error) {
          if (signal.aborted) throw error;
          errors.push(error);
        }
      }
      if (errors.length > 0) throw errors[0];
      return outcomes.join('; ') || 'Nothing is published yet.';
    },
    async report() {
      const ends = new Map<string, number>();
      for (const { id } of share === 0 ? [] : networks()) {
        const last = await database.network(id).audit.last();
        if (last !== null) ends.set(id, last.finishedAt.getTime() / 1_000);
      }
      // Of a network that left the networks file nothing is told.
      lastRun.reset();
      for (const [network, at] of ends) lastRun.set({ network }, at);
    },
  };
}
