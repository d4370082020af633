import { cpus } from 'node:os';
import type { Downloader } from '../watch/downloader.js';
import type { PublishedFigures } from './check-published.js';
import type { FetchLedger, RuleTrial } from './fetch-ledger.js';
import type { MadeKill } from './kill-session.js';
import type { Outages } from './outages.js';
import { ROLES, type Role } from './plan-kills.js';

/** Figures of one kind of process. */
interface RoleFigures {
  kills: number;
  /** Of those, how many hit a process that was still starting. */
  starting: number;
  /** The most blocks that one such kill had fetched once more. */
  mostRefetched: number;
  /** The longest time without an answer of the gateway that began with or after such a kill, in seconds. */
  longestOutageSeconds: number;
}

/** The result of a kill test. */
export interface KillReport {
  seed: number;
  kills: number;
  blocks: number;
  machine: { cores: number; cpu: string; node: string };
  byRole: Record<Role, RoleFigures>;
  /** Times `packhouse local` was started. */
  starts: number;
  fetches: number;
  /** Blocks that were fetched more than once, counted once for each time. */
  refetched: number;
  /** By kill, in order. */
  refetchedPerKill: number[];
  /** The most because of one kill. */
  mostRefetched: number;
  /** Blocks of one job (an ingest window), and how many jobs run at a time. */
  job: { blocks: number; atATime: number };
  /** The most blocks of one job, and the most jobs, that one kill had redone. */
  mostRefetchedOfAJob: number;
  mostJobsRedone: number;
  published: { bundles: number; records: number; bytes: number };
  client: { requests: number; failed: number; pointers: number; downloads: number; links: number };
  longestOutageSeconds: number;
  seconds: { whole: number; underKills: number; toFinish: number };
  /** Violations, as sentences; empty if all is well. */
  violations: string[];
}

/** Puts the figures together. */
export function toReport(parts: {
  options: { kills: number; seed: number; blocks: number };
  made: readonly MadeKill[];
  ledger: FetchLedger;
  trials: readonly RuleTrial[];
  client: Downloader;
  outages: Outages;
  published: PublishedFigures;
  starts: number;
  violations: readonly string[];
  job: KillReport['job'];
  seconds: KillReport['seconds'];
}): KillReport {
  const { made, ledger, client, options } = parts;
  const { job } = parts;
  const { perKill: redone, unexplained } = ledger.blame(made, job.blocks, parts.trials);
  const perKill = redone.map(({ blocks }) => blocks);
  const outages = parts.outages.list();
  const seconds = ({ from, to }: { from: number; to: number }): number => (to - from) / 1_000;
  const byRole = Object.fromEntries(
    ROLES.map((role): [Role, RoleFigures] => {
      const own = made
        .map((kill, at) => ({ ...kill, refetched: perKill[at] as number }))
        .filter((kill) => kill.role === role);
      const blamed = outages.filter(({ from, to }) => {
        // The first kill within it began it.
        const first = made.find(({ at }) => at >= from - 100 && at <= to);
        return first?.role === role;
      });
      return [
        role,
        {
          kills: own.length,
          starting: own.filter((kill) => kill.starting).length,
          mostRefetched: Math.max(0, ...own.map((kill) => kill.refetched)),
          longestOutageSeconds: Math.max(0, ...blamed.map(seconds)),
        },
      ];
    }),
  ) as Record<Role, RoleFigures>;
  const violations = [...parts.violations];
  if (unexplained.length > 0) {
    violations.push(
      `${unexplained.length} blocks were fetched twice though no kill explains it: ${unexplained
        .slice(0, 8)
        .map(({ block, first, again }) => `${block} after ${again - first} ms`)
        .join(', ')}`,
    );
  }
  for (const [at, { jobs, mostOfAJob }] of redone.entries()) {
    const name = `kill ${at + 1} (${made[at]?.role})`;
    if (mostOfAJob > job.blocks)
      violations.push(`${name} had more than a job of ${job.blocks} blocks redone: ${mostOfAJob}`);
    // Beside the jobs, the head is followed.
    if (jobs > job.atATime + 1)
      violations.push(`${name} had ${jobs} jobs redone, of ${job.atATime} at a time`);
  }
  return {
    ...options,
    machine: { cores: cpus().length, cpu: cpus()[0]?.model ?? 'unknown', node: process.version },
    byRole,
    starts: parts.starts,
    fetches: ledger.fetches(),
    refetched: ledger.fetches() - ledger.blocks(),
    refetchedPerKill: perKill,
    mostRefetched: Math.max(0, ...perKill),
    job,
    mostRefetchedOfAJob: Math.max(0, ...redone.map(({ mostOfAJob }) => mostOfAJob)),
    mostJobsRedone: Math.max(0, ...redone.map(({ jobs }) => jobs)),
    published: {
      bundles: parts.published.bundles,
      records: parts.published.records,
      bytes: parts.published.bytes,
    },
    client: {
      requests: parts.outages.requests(),
      failed: parts.outages.failed(),
      pointers: client.pointers().length,
      downloads: client.files(),
      links: new Set(client.pointers().map(({ link }) => link)).size,
    },
    longestOutageSeconds: Math.max(0, ...outages.map(seconds)),
    seconds: parts.seconds,
    violations,
  };
}
