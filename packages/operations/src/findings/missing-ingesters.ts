import type { Backfill, WorkerRow } from '@packhouse/database';
import type { Finding } from './finding.js';

/**
 * The networks with active backfills that no ingester takes jobs of: none reports, or all of them drain. They wait since
 * the last one was seen, or began to drain; where there never was one, since the first backfill was added.
 */
export function findMissingIngesters(given: {
  active: readonly Pick<Backfill, 'network' | 'createdAt'>[];
  workers: readonly Pick<WorkerRow, 'role' | 'networks' | 'drainingSince'>[];
  /** When an ingester of a network was last seen. */
  seen: ReadonlyMap<string, Date>;
}): Finding[] {
  const { active, seen, workers } = given;
  /** By network: since when all ingesters of it drain; null: one takes jobs. */
  const draining = new Map<string, Date | null>();
  for (const { drainingSince: since, networks } of workers.filter(({ role }) => role === 'ingester')) {
    for (const network of networks) {
      const before = draining.get(network);
      draining.set(network, before === null || since === null ? null : later(before, since));
    }
  }
  const added = new Map<string, Date>();
  for (const { network, createdAt } of active) {
    const before = added.get(network);
    if (before === undefined || createdAt < before) added.set(network, createdAt);
  }
  return [...added].flatMap(([network, first]): Finding[] => {
    const since = draining.get(network);
    if (since === null) return [];
    const message =
      since === undefined
        ? 'no ingester reported in the last 15 s. Nothing is fetched until one starts.'
        : 'all its ingesters are draining. Nothing more is fetched until one is resumed or started.';
    return [
      {
        kind: 'no-ingester',
        network,
        message,
        detail: null,
        since: since ?? seen.get(network) ?? first,
        until: null,
        alarms: [],
      },
    ];
  });
}

const later = (a: Date | undefined, b: Date): Date => (a === undefined || a < b ? b : a);
