import { type Context, createOnceAWhile } from '@packhouse/runtime';
import { type BudgetsParts, openBudgets } from './open-budgets.js';
import type { Spending, UpstreamSpending } from './spending.js';
import { createTally, type Tally } from './tally.js';

/** Requests to one upstream on one day, as they are stored. */
interface SpentRow {
  /** Days since 1970-01-01 in UTC. */
  day: number;
  network: string;
  upstream: string;
  provider: string;
  method: string;
  owner: string;
  range: number | null;
  requests: number;
  units: number;
  bytes: number;
}

/** The store of what was sent. */
interface SpentTable {
  add(rows: readonly SpentRow[]): Promise<void>;
  /** Sums of these days by upstream and method. */
  upstreams(since: number, until: number): Promise<Pick<SpentRow, 'provider' | 'method' | 'requests'>[]>;
  /** Deletes what is older than so many days. */
  forget(days: number): Promise<void>;
}

interface SpendingOptions extends BudgetsParts {
  context: Pick<Context, 'clock' | 'logger'>;
  table: SpentTable;
}

const FLUSH_MS = 2_000;
const KEPT_DAYS = 400;
const DAY_MS = 86_400_000;
const COMPLAIN_MS = 60_000;

/**
 * Counts the requests of this process, and sends none that a budget does not allow. Counts are written every two
 * seconds and at the end, so a process that is killed loses two seconds of them; while the store is away they are kept.
 * Where there is no budget, no store is asked before a call.
 */
export async function createSpending(
  options: SpendingOptions,
): Promise<Spending & { close(): Promise<void> }> {
  const { context, table } = options;
  const { clock, logger } = context;
  const upstreams = new Map<
    string,
    { spending: UpstreamSpending; tally: Tally; facts: Pick<SpentRow, 'network' | 'upstream' | 'provider'> }
  >();
  const seldom = createOnceAWhile(COMPLAIN_MS, () => clock.elapsed());
  const budgets = await openBudgets(options);
  let unwritten = new Map<string, SpentRow>();
  let forgotten = -1;
  let writing: Promise<void> | undefined;

  const note = (row: SpentRow): void => {
    const { day, network, upstream, provider, method, owner, range } = row;
    const key = JSON.stringify([day, network, upstream, provider, method, owner, range]);
    const known = unwritten.get(key);
    if (known === undefined) {
      unwritten.set(key, row);
      return;
    }
    known.requests += row.requests;
    known.units += row.units;
    known.bytes += row.bytes;
  };

  const write = async (): Promise<void> => {
    const day = Math.floor(clock.now() / DAY_MS);
    for (const { tally, facts } of upstreams.values()) {
      for (const row of tally.take()) {
        note({ day, ...facts, ...row, units: row.requests * budgets.weight(facts.provider, row.method) });
      }
    }
    const told = unwritten;
    unwritten = new Map();
    try {
      if (told.size > 0) await table.add([...told.values()]);
    } catch (error) {
      for (const row of told.values()) note(row);
      if (seldom('write').say)
        logger.warn({ err: error }, 'counts of requests to nodes could not be written; they are kept');
      return;
    }
    if (forgotten === day || told.size === 0) return;
    await table.forget(KEPT_DAYS).then(
      () => {
        forgotten = day;
      },
      () => undefined,
    );
  };
  const flush = (): Promise<void> => {
    writing ??= write().finally(() => {
      writing = undefined;
    });
    return writing;
  };
  const timer = setInterval(() => void flush(), FLUSH_MS);
  timer.unref();

  return {
    of(network, { name, provider, requestsPerSecond }) {
      const key = JSON.stringify([network, name, provider, requestsPerSecond]);
      let known = upstreams.get(key);
      if (known === undefined) {
        const tally = createTally();
        const own =
          requestsPerSecond === undefined
            ? null
            : budgets.ofUpstream(network, name, provider, requestsPerSecond);
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
            return own === null
              ? second(calls)
              : own.take({ use, each: 1, calls }, signal, caller).then(second);
          },
        };
        known = { spending, tally, facts: { network, upstream: name, provider } };
        upstreams.set(key, known);
      }
      return known.spending;
    },
    async close() {
      clearInterval(timer);
      budgets.close();
      await writing;
      await flush();
    },
  };
}
