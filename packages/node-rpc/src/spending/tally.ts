import { getOrAdd } from '@packhouse/runtime';
import type { Account } from './spending.js';

/** What was sent to one upstream for one owner or backfill. */
export interface TallyRow {
  method: string;
  owner: string;
  backfill: number | null;
  requests: number;
  bytes: number;
}

type Cells = Map<string, TallyRow>;

/**
 * Creates the tally of what was sent to one upstream: plain numbers, found by two look-ups, as it counts each forwarded
 * call. Cells that counted nothing since the last take are dropped.
 */
export function createTally() {
  const owners = new Map<string, Cells>();
  const backfills = new Map<number, Cells>();

  const toCell = (method: string, { owner, backfill }: Account): TallyRow => {
    const empty = (): Cells => new Map();
    const cells =
      backfill === undefined ? getOrAdd(owners, owner, empty) : getOrAdd(backfills, backfill, empty);
    const cell = getOrAdd(cells, method, () => {
      return { method, owner, backfill: backfill ?? null, requests: 0, bytes: 0 };
    });
    // A backfill may get another owner.
    cell.owner = owner;
    return cell;
  };
  const takeFrom = <K>(all: Map<K, Cells>): TallyRow[] => {
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
    sent(method: string, calls: number, account: Account): void {
      toCell(method, account).requests += calls;
    },
    received(method: string, bytes: number, account: Account): void {
      toCell(method, account).bytes += bytes;
    },
    /** Returns the counts that are not zero, and begins again. */
    take: (): TallyRow[] => [...takeFrom(owners), ...takeFrom(backfills)],
  };
}
