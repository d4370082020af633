import type { Database, UnitsUsed, UsageCount } from '@packhouse/database';
import { type Context, createOnceAWhile } from '@packhouse/runtime';
import type { Exchange } from '../http/exchange.js';
import { monthOf } from './quotas.js';

/** Counts of one key, network and method that are not written yet. */
interface UsageCell {
  requests: number;
  units: number;
  errors: number;
  bytes: number;
}

/** What keys use, by day (UTC), network and method. */
export interface UsageCounts {
  /**
   * The counts to add to; they are not to be kept, because the next second has others. `method` is from a bounded set:
   * a method that the network offers, `other`, `batch`, or a route.
   */
  of(keyId: number, network: string, method: string): UsageCell;
  /** Writes what is not written yet, and stops. */
  close(): Promise<void>;
}

const FLUSH_MS = 1_000;
const DAY_MS = 86_400_000;
const COMPLAIN_MS = 60_000;

/** Cells by method, by network, by key. */
type OfDay = Map<number, Map<string, Map<string, UsageCell>>>;

/**
 * Creates the counts. Every second new ones go to Postgres, in one statement for all keys: a process that is killed
 * loses a second of them. While Postgres is away they are kept. `learn` gets the units of each of these keys at all
 * gateways together; a new gateway knows them a second after a key's first request, so a quota may be exceeded for that
 * second.
 */
export function createUsageCounts(options: {
  context: Pick<Context, 'clock' | 'logger' | 'metrics'>;
  usage: Pick<Database['usage'], 'add' | 'forget'>;
  /** Days that are kept. */
  keepDays: number;
  learn(units: UnitsUsed): void;
}): UsageCounts {
  const { usage, keepDays, learn } = options;
  const { clock, logger, metrics } = options.context;
  const failures = metrics.counter(
    'packhouse_usage_write_failures_total',
    'Times that counts of usage could not be written; they are kept and written later.',
  );
  const seldom = createOnceAWhile(COMPLAIN_MS, () => clock.elapsed());
  let days = new Map<number, OfDay>();
  let today = -1;
  let cells: OfDay = new Map();
  let swept = -1;
  let writing: Promise<void> | undefined;

  const ofDay = (day: number): OfDay => {
    let found = days.get(day);
    if (found === undefined) {
      found = new Map();
      days.set(day, found);
    }
    return found;
  };

  const unitsNotTold = (keyId: number, when: (day: number) => boolean): number => {
    let units = 0;
    for (const [day, keys] of days) {
      if (!when(day)) continue;
      for (const methods of keys.get(keyId)?.values() ?? []) {
        for (const cell of methods.values()) units += cell.units;
      }
    }
    return units;
  };

  const complain = (err: unknown, text: string): void => {
    failures.inc();
    const { say } = seldom(text);
    if (say) logger.warn({ err }, text);
  };

  const sweep = async (): Promise<void> => {
    const day = Math.floor(clock.now() / DAY_MS);
    if (swept === day) return;
    try {
      await usage.forget(keepDays);
      swept = day;
    } catch (error) {
      complain(error, 'old counts of usage could not be deleted; it is tried again');
    }
  };

  const write = async (): Promise<void> => {
    if (days.size === 0) return;
    const told = rowsOf(days);
    days = new Map();
    today = -1;
    try {
      // Calls counted meanwhile are added to the totals.
      for (const total of await usage.add(told)) {
        const { keyId, day } = total;
        const month = monthOf(day);
        learn({
          ...{ keyId, day },
          inDay: total.inDay + unitsNotTold(keyId, (other) => other === day),
          inMonth: total.inMonth + unitsNotTold(keyId, (other) => monthOf(other) === month),
        });
      }
    } catch (error) {
      for (const row of told) {
        const cell = cellIn(ofDay(row.day), row.keyId, row.network, row.method);
        cell.requests += row.requests;
        cell.units += row.units;
        cell.errors += row.errors;
        cell.bytes += row.bytes;
      }
      complain(error, 'counts of usage could not be written; they are kept');
      return;
    }
    await sweep();
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
    of(keyId, network, method) {
      const day = Math.floor(clock.now() / DAY_MS);
      if (day !== today) {
        cells = ofDay(day);
        today = day;
      }
      return cellIn(cells, keyId, network, method);
    },
    async close() {
      clearInterval(timer);
      await writing;
      await flush();
    },
  };
}

/**
 * Adds what only the end of a counted request tells: bytes and failed calls. A batch has its bytes under `batch`. A
 * client that went away is no error.
 */
export function noteUsage(usage: UsageCounts, exchange: Exchange): void {
  const { key, network, counted, calls, request, response } = exchange;
  if (key === undefined || counted === '') return;
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

function cellIn(keys: OfDay, keyId: number, network: string, method: string): UsageCell {
  let networks = keys.get(keyId);
  if (networks === undefined) {
    networks = new Map();
    keys.set(keyId, networks);
  }
  let methods = networks.get(network);
  if (methods === undefined) {
    methods = new Map();
    networks.set(network, methods);
  }
  let cell = methods.get(method);
  if (cell === undefined) {
    cell = { requests: 0, units: 0, errors: 0, bytes: 0 };
    methods.set(method, cell);
  }
  return cell;
}

function rowsOf(days: ReadonlyMap<number, OfDay>): UsageCount[] {
  const rows: UsageCount[] = [];
  for (const [day, keys] of days) {
    for (const [keyId, networks] of keys) {
      for (const [network, methods] of networks) {
        for (const [method, cell] of methods) rows.push({ keyId, day, network, method, ...cell });
      }
    }
  }
  return rows;
}
