import { createOnceAWhile, getOrAdd, toDay, writeEvery } from '@packhouse/runtime';
import { type BudgetsParts, openBudgets, type SpentSums } from './open-budgets.js';
import type { Account, Spending, UpstreamSpending } from './spending.js';

/** Requests to one upstream on one day, as they are stored. */
interface SpentRow extends TallyRow {
  /** Days since 1970-01-01 in UTC. */
  day: number;
  network: string;
  upstream: string;
  provider: string;
  units: number;
}

/** The store of what was sent. */
interface SpentTable extends SpentSums {
  add(rows: readonly SpentRow[]): Promise<void>;
  /** Deletes what is older than so many days. */
  forget(days: number): Promise<void>;
}

const FLUSH_MS = 2_000;
const KEPT_DAYS = 400;
const COMPLAIN_MS = 60_000;

/**
 * Counts the requests of this process, and sends none that a budget does not allow. Counts are written every two
 * seconds and at the end, so a process that is killed loses two seconds of them; while the store is away they are kept.
 * Where there is no budget, no store is asked before a call.
 */
export async function createSpending(
  options: BudgetsParts & { table: SpentTable },
): Promise<Spending & { close(): Promise<void> }> {
  const { context, table } = options;
  const { clock, logger } = context;
  const upstreams = new Map<string, ReturnType<typeof openUpstream>>();
  const seldom = createOnceAWhile(COMPLAIN_MS, () => clock.elapsed());
  const budgets = await openBudgets(options);
  let unwritten = new Map<string, SpentRow>();
  let forgotten = -1;

  const note = (row: SpentRow): void => {
    const { day, network, upstream, provider, method, owner, backfill } = row;
    const key = JSON.stringify([day, network, upstream, provider, method, owner, backfill]);
    const known = getOrAdd(unwritten, key, () => row);
    if (known === row) return;
    known.requests += row.requests;
    known.units += row.units;
    known.bytes += row.bytes;
  };

  const write = async (): Promise<void> => {
    const day = toDay(clock.now());
    for (const { tally, facts } of upstreams.values()) {
      for (const row of tally.take()) {
        note({ day, ...facts, ...row, units: row.requests * budgets.weight(facts.provider, row.method) });
      }
    }
    const rows = unwritten;
    unwritten = new Map();
    try {
      if (rows.size > 0) await table.add([...rows.values()]);
    } catch (error) {
      for (const row of rows.values()) note(row);
      if (seldom('write').say) logger.warn({ err: error }, 'request counts not written: kept in memory');
      return;
    }
    if (forgotten === day || rows.size === 0) return;
    await table.forget(KEPT_DAYS).then(
      () => {
        forgotten = day;
      },
      () => undefined,
    );
  };
  const writing = writeEvery(FLUSH_MS, write);

  const openUpstream = (network: string, upstream: Parameters<Spending['of']>[1]) => {
    const { name, provider, requestsPerSecond } = upstream;
    const tally = createTally();
    const own =
      requestsPerSecond === undefined ? null : budgets.ofUpstream(network, name, provider, requestsPerSecond);
    const spending: UpstreamSpending = {
      sent: tally.sent,
      received: tally.received,
      refusal: (use) => own?.refusal(use) ?? budgets.of(provider)?.refusal(use) ?? null,
      take(method, calls, use, signal, caller) {
        const of = budgets.of(provider);
        if (own === null && of === null) return calls;
        const each = budgets.weight(provider, method);
        const second = (granted: number): number | Promise<number> =>
          of === null ? granted : of.take({ use, each, calls: granted }, signal, caller);
        return own === null ? second(calls) : own.take({ use, each: 1, calls }, signal, caller).then(second);
      },
    };
    return { spending, tally, facts: { network, upstream: name, provider } };
  };

  return {
    of(network, upstream) {
      const { name, provider, requestsPerSecond } = upstream;
      const key = JSON.stringify([network, name, provider, requestsPerSecond]);
      return getOrAdd(upstreams, key, () => openUpstream(network, upstream)).spending;
    },
    async close() {
      budgets.close();
      await writing.close();
    },
  };
}

/** What was sent to one upstream for one owner or backfill. */
interface TallyRow {
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
function createTally() {
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
