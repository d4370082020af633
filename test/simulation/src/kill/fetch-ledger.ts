import type { Role } from './plan-kills.js';

/** A kill that was made, as far as it can be to blame for something. */
interface KillAt {
  role: Role;
  /** Milliseconds since the epoch. */
  at: number;
}

/** A block that was asked for twice for no known reason. */
interface Unexplained {
  block: number;
  /** When, in milliseconds since the epoch. */
  first: number;
  again: number;
}

/** What one kill had fetched once more. */
interface Redone {
  blocks: number;
  /** Jobs that these belong to. */
  jobs: number;
  /** The most of one job. */
  mostOfAJob: number;
}

/** A new leader fetched these blocks to try its rules, and kept nothing; `at`: when it had, in milliseconds since the epoch. */
export interface RuleTrial {
  blocks: readonly number[];
  at: number;
}

/** Every time a block was asked of the node, in order. */
export interface FetchLedger {
  note(block: number, at: number): void;
  /** Blocks that were asked for at least once. */
  blocks(): number;
  fetches(): number;
  /**
   * For each kill, how many blocks were asked for once more because of it, by the job that they belong to (the windows
   * of `jobBlocks` on their grid); and those that no kill explains. The fetches of `trials` do not count.
   */
  blame(
    kills: readonly KillAt[],
    jobBlocks: number,
    trials: readonly RuleTrial[],
  ): { perKill: Redone[]; unexplained: Unexplained[] };
}

/** Only these hold blocks that are fetched and not yet staged, or what they are staged in. */
const HOLDS_WORK: ReadonlySet<Role> = new Set(['ingester', 'supervisor', 'postmaster', 'backend']);

const POSTGRES: ReadonlySet<Role> = new Set(['supervisor', 'postmaster', 'backend']);
/** How long a Postgres may take until it is there again and its clients know it. */
const RECOVERY_MS = 30_000;

/** Makes an empty ledger. */
export function createFetchLedger(): FetchLedger {
  const times = new Map<number, number[]>();
  return {
    note(block, at) {
      const known = times.get(block);
      if (known === undefined) times.set(block, [at]);
      else known.push(at);
    },
    blocks: () => times.size,
    fetches: () => [...times.values()].reduce((sum, each) => sum + each.length, 0),
    blame(kills, jobBlocks, trials) {
      const jobs = kills.map(() => new Map<number, number>());
      const unexplained: Unexplained[] = [];
      for (const [block, all] of times) {
        const asked = withoutTrials(block, all, trials);
        for (let next = 1; next < asked.length; next++) {
          const [first, again] = asked.slice(next - 1) as [number, number];
          // The first kill behind the earlier request took what it had brought; where there is none, Postgres was
          // still away because of one before it, and what was brought could not be staged.
          let guilty = kills.findIndex(({ role, at }) => HOLDS_WORK.has(role) && at >= first && at <= again);
          if (guilty === -1) {
            guilty = kills.findLastIndex(
              ({ role, at }) => POSTGRES.has(role) && at < first && at >= first - RECOVERY_MS,
            );
          }
          if (guilty === -1) unexplained.push({ block, first, again });
          else {
            const job = Math.floor(block / jobBlocks);
            const counts = jobs[guilty] as Map<number, number>;
            counts.set(job, (counts.get(job) ?? 0) + 1);
          }
        }
      }
      const perKill = jobs.map((counts) => ({
        blocks: [...counts.values()].reduce((sum, count) => sum + count, 0),
        jobs: counts.size,
        mostOfAJob: Math.max(0, ...counts.values()),
      }));
      return { perKill, unexplained };
    },
  };
}

/** The times without those of the trials: each is the last one before its end. */
function withoutTrials(
  block: number,
  times: readonly number[],
  trials: readonly RuleTrial[],
): readonly number[] {
  const left = [...times];
  for (const { blocks, at } of trials) {
    if (!blocks.includes(block)) continue;
    const tried = left.findLastIndex((time) => time <= at);
    if (tried !== -1) left.splice(tried, 1);
  }
  return left;
}
