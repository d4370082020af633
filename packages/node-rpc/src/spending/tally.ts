import type { Account } from './spending.js';

/** What was sent to one upstream since it was last asked for. */
export interface Tally {
  sent(method: string, calls: number, account: Account): void;
  received(method: string, bytes: number, account: Account): void;
  /** Returns the counts that are not zero, and begins again. */
  take(): TallyRow[];
}

interface TallyRow {
  method: string;
  owner: string;
  range: number | null;
  requests: number;
  bytes: number;
}

/**
 * Creates a tally: plain numbers, found by two look-ups, as it is asked for each forwarded call. Cells that counted
 * nothing since the last take are dropped.
 */
export function createTally(): Tally {
  const owners = new Map<string, Map<string, TallyRow>>();
  const ranges = new Map<number, Map<string, TallyRow>>();

  const cellOf = (method: string, { owner, range }: Account): TallyRow => {
    let cells = range === undefined ? owners.get(owner) : ranges.get(range);
    if (cells === undefined) {
      cells = new Map();
      if (range === undefined) owners.set(owner, cells);
      else ranges.set(range, cells);
    }
    let cell = cells.get(method);
    if (cell === undefined) {
      cell = { method, owner, range: range ?? null, requests: 0, bytes: 0 };
      cells.set(method, cell);
    }
    // A range may get another owner.
    cell.owner = owner;
    return cell;
  };
  const takeFrom = <K>(all: Map<K, Map<string, TallyRow>>): TallyRow[] => {
    const rows: TallyRow[] = [];
    for (const [key, cells] of all) {
      for (const [method, cell] of cells) {
        if (cell.requests === 0 && cell.bytes === 0) cells.delete(method);
        else rows.push({ ...cell });
        cell.requests = 0;
        cell.bytes = 0;
      }
      if (cells.size === 0) all.delete(key);
    }
    return rows;
  };

  return {
    sent(method, calls, account) {
      cellOf(method, account).requests += calls;
    },
    received(method, bytes, account) {
      cellOf(method, account).bytes += bytes;
    },
    take: () => [...takeFrom(owners), ...takeFrom(ranges)],
  };
}
