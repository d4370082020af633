import type { Database, KeyRow, UnitsUsed, UsageCount } from '@packhouse/database';
import { type Context, createOnceAWhile, getOrAdd, toDay, writeEvery } from '@packhouse/runtime';
import type { Exchange } from '../http/exchange.js';
import { getMonth } from './quotas.js';

/** What keys use, by day (UTC), network and method. */
export type UsageCounts = ReturnType<typeof createUsageCounts>;

const FLUSH_MS = 1_000;
const WARN_INTERVAL_MS = 60_000;
const FIGURES = ['requests', 'units', 'errors', 'bytes'] as const;

/**
 * Creates the counts. Every second new ones go to Postgres, in one statement for all keys: a process that is killed
 * loses a second of them. While Postgres is away they are kept. `onTotals` gets the units of each of these keys at all
 * gateways together; a new gateway knows them a second after a key's first request, so a quota may be exceeded for that
 * second.
 */
export function createUsageCounts(options: {
  context: Pick<Context, 'clock' | 'logger' | 'metrics'>;
  usage: Pick<Database['usage'], 'add' | 'forget'>;
  /** Days that are kept. */
  keepDays: number;
  onTotals(units: UnitsUsed): void;
}) {
  const { usage, keepDays, onTotals } = options;
  const { clock, logger, metrics } = options.context;
  const failures = metrics.counter(
    'packhouse_usage_write_failures_total',
    'Failed writes of usage counts; the counts are kept and written later.',
  );
  const onceAWhile = createOnceAWhile(WARN_INTERVAL_MS, () => clock.elapsed());
  /** Counts that are not written yet, by day, key, network and method. */
  let unwritten = new Map<string, UsageCount>();
  /** By key: most requests are of the kind of the one before; then no name is built. */
  const latest = new Map<number, UsageCount>();
  let swept = -1;

  const warn = (err: unknown, text: string): void => {
    failures.inc();
    const { say } = onceAWhile(text);
    if (say) logger.warn({ err }, text);
  };

  const sweep = async (): Promise<void> => {
    const day = toDay(clock.now());
    if (swept === day) return;
    try {
      await usage.forget(keepDays);
      swept = day;
    } catch (error) {
      warn(error, 'failed to delete old usage counts; will retry');
    }
  };

  const find = (day: number, keyId: number, network: string, method: string): UsageCount => {
    const last = latest.get(keyId);
    if (last?.method === method && last.network === network && last.day === day) return last;
    const figures = { requests: 0, units: 0, errors: 0, bytes: 0 };
    const count = getOrAdd(unwritten, `${day} ${keyId} ${network} ${method}`, () => ({
      keyId,
      day,
      network,
      method,
      ...figures,
    }));
    latest.set(keyId, count);
    return count;
  };

  const write = async (): Promise<void> => {
    if (unwritten.size === 0) return;
    const rows = [...unwritten.values()];
    unwritten = new Map();
    latest.clear();
    try {
      const totals = await usage.add(rows);
      const meanwhile = new Map<number, UsageCount[]>();
      for (const count of unwritten.values()) getOrAdd(meanwhile, count.keyId, () => []).push(count);
      for (const total of totals) onTotals(addUnits(total, meanwhile.get(total.keyId) ?? []));
    } catch (error) {
      for (const { day, keyId, network, method, ...figures } of rows) {
        const count = find(day, keyId, network, method);
        for (const name of FIGURES) count[name] += figures[name];
      }
      warn(error, 'failed to write usage counts; they are kept');
      return;
    }
    await sweep();
  };
  const writing = writeEvery(FLUSH_MS, write);

  return {
    /**
     * The counts to add to; they are not to be kept, because the next second has others. `method` is from a bounded set:
     * a method that the network offers, `other`, `batch`, or a route.
     */
    of: (keyId: number, network: string, method: string): UsageCount =>
      find(toDay(clock.now()), keyId, network, method),
    /** Writes what is not written yet, and stops. */
    close: writing.close,
  };
}

/**
 * Adds what is only known at the end of a counted request: bytes and failed calls. A batch has its bytes under `batch`. A
 * client that went away is no error.
 */
export function recordUsage(usage: UsageCounts, exchange: Exchange): void {
  const { key, counted, calls, request, response } = exchange;
  if (key === undefined || counted === '') return;
  const network = usedNetwork(exchange, key);
  const cell = usage.of(key.id, network, counted);
  if (request.method !== 'HEAD' && response.writableFinished) {
    cell.bytes += exchange.bytes + exchange.redirected;
  }
  if (calls === undefined || calls.count === 0) {
    if (exchange.refusal !== '') cell.errors += 1;
  } else {
    for (const method of calls.failed) usage.of(key.id, network, method).errors += 1;
  }
}

/** What a request is counted under that is of no network: the catalog of tables. No network has this id. */
const CATALOG = 'iceberg';

/** The network that a request of a key is counted under. */
export function usedNetwork({ network }: Exchange, key: KeyRow): string {
  return network || key.network || CATALOG;
}

/** The totals of a key with what was counted since. */
function addUnits({ keyId, day, inDay, inMonth }: UnitsUsed, since: readonly UsageCount[]): UnitsUsed {
  const units = { keyId, day, inDay, inMonth };
  for (const count of since) {
    if (count.day === day) units.inDay += count.units;
    if (getMonth(count.day) === getMonth(day)) units.inMonth += count.units;
  }
  return units;
}
