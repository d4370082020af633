import { cpus } from 'node:os';
import type { PublishedFigures } from './check-published.js';
import type { FetchLedger } from './fetch-ledger.js';
import type { GatewayClient } from './gateway-client.js';
import type { MadeKill } from './kill-session.js';
import { ROLES, type Role } from './plan-kills.js';

/** A process younger than this was starting when it was hit. */
const YOUNG_MS = 1_500;

/** Figures of one kind of process. */
export interface RoleFigures {
  kills: number;
  /** Of those, how many hit a process that was still starting. */
  starting: number;
  /** The most blocks that one such kill had fetched once more. */
  mostRefetched: number;
  /** The longest time without an answer of the gateway that began with or after such a kill, in seconds. */
  longestOutageSeconds: number;
}

/** What a kill test found. */
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
  mostRefetched: number;
  published: { bundles: number; records: number; bytes: number };
  client: { requests: number; failed: number; pointers: number; downloads: number; links: number };
  longestOutageSeconds: number;
  seconds: { whole: number; underKills: number; toFinish: number };
  /** What must not be, as sentences; empty where all is well. */
  violations: string[];
}

/** Puts the figures together. */
export function reportOf(parts: {
  options: { kills: number; seed: number; blocks: number };
  made: readonly MadeKill[];
  ledger: FetchLedger;
  client: GatewayClient;
  links: number;
  published: PublishedFigures;
  starts: number;
  violations: readonly string[];
  seconds: KillReport['seconds'];
}): KillReport {
  const { made, ledger, client, options } = parts;
  const { perKill, unexplained } = ledger.blame(made);
  const outages = client.outages();
  const seconds = ({ from, to }: { from: number; to: number }): number => (to - from) / 1_000;
  const byRole = Object.fromEntries(
    ROLES.map((role): [Role, RoleFigures] => {
      const own = made
        .map((kill, at) => ({ ...kill, refetched: perKill[at] as number }))
        .filter((kill) => kill.role === role);
      const blamed = outages.filter(({ from, to }) => {
        // The last kill before the end began it; several at once are told as the first of them.
        const first = made.find(({ at }) => at >= from - 100 && at <= to);
        return first?.role === role;
      });
      return [
        role,
        {
          kills: own.length,
          starting: own.filter((kill) => kill.ageMs < YOUNG_MS).length,
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
  return {
    ...options,
    machine: { cores: cpus().length, cpu: cpus()[0]?.model ?? 'unknown', node: process.version },
    byRole,
    starts: parts.starts,
    fetches: ledger.fetches(),
    refetched: ledger.fetches() - ledger.blocks(),
    refetchedPerKill: perKill,
    mostRefetched: Math.max(0, ...perKill),
    published: {
      bundles: parts.published.bundles,
      records: parts.published.records,
      bytes: parts.published.bytes,
    },
    client: { ...client.counts, links: parts.links },
    longestOutageSeconds: Math.max(0, ...outages.map(seconds)),
    seconds: parts.seconds,
    violations,
  };
}
