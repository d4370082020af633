import type { Role } from './plan-kills.js';

/** A kill that was made, as far as it can be to blame for something. */
export interface KillAt {
  role: Role;
  /** Milliseconds since the epoch. */
  at: number;
}

/** A block that was asked for twice for no known reason. */
export interface Unexplained {
  block: number;
  /** When, in milliseconds since the epoch. */
  first: number;
  again: number;
}

/** Every time a block was asked of the node, in order. */
export interface FetchLedger {
  note(block: number, at: number): void;
  /** Blocks that were asked for at least once. */
  blocks(): number;
  fetches(): number;
  /** For each kill, how many blocks were asked for once more because of it; and those that no kill explains. */
  blame(kills: readonly KillAt[]): { perKill: number[]; unexplained: Unexplained[] };
}

/** Only these hold blocks that are fetched and not yet staged, or what they are staged in. */
const HOLDS_WORK: ReadonlySet<Role> = new Set(['ingester', 'supervisor', 'postmaster', 'backend']);

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
    blame(kills) {
      const perKill = kills.map(() => 0);
      const unexplained: Unexplained[] = [];
      for (const [block, asked] of times) {
        for (let next = 1; next < asked.length; next++) {
          const [first, again] = asked.slice(next - 1) as [number, number];
          // The first kill behind the earlier request took what it had brought.
          const guilty = kills.findIndex(
            ({ role, at }) => HOLDS_WORK.has(role) && at >= first && at <= again,
          );
          if (guilty === -1) unexplained.push({ block, first, again });
          else perKill[guilty] = (perKill[guilty] as number) + 1;
        }
      }
      return { perKill, unexplained };
    },
  };
}
