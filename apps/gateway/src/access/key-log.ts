import type { Database, KeyRequest } from '@packhouse/database';
import { type Context, createOnceAWhile, getOrAdd } from '@packhouse/runtime';
import type { Exchange } from '../http/exchange.js';
import { isAborted, toOutcome } from '../http/request-log.js';
import { describeParams } from './describe-params.js';

const FLUSH_MS = 1_000;
/** Requests of a key, and of all keys, that are written of a second; of more the number is. */
const MAX_OF_KEY = 50;
const MAX_OF_ALL = 1_000;
const WARN_INTERVAL_MS = 60_000;

export type KeyLog = ReturnType<typeof createKeyLog>;

/**
 * Logs the requests of keys whose log is on, for operators and holders: method, status, duration, units, and parameters
 * only while somebody asks for them. They are written every second; what cannot be written is dropped, as no request waits for it.
 */
export function createKeyLog(options: {
  context: Pick<Context, 'clock' | 'logger'>;
  keyRequests: Pick<Database['keyRequests'], 'add'>;
}) {
  const { keyRequests } = options;
  const { clock, logger } = options.context;
  const onceAWhile = createOnceAWhile(WARN_INTERVAL_MS, () => clock.elapsed());
  let unwritten: (KeyRequest & { keyId: number })[] = [];
  /** Of this second, by key. */
  let counts = new Map<number, { kept: number; leftOut: number }>();
  let writing: Promise<void> | undefined;

  const write = async (): Promise<void> => {
    const requests = unwritten;
    unwritten = [];
    const before = counts;
    counts = new Map();
    // What was left out is said by the next request.
    for (const [keyId, { leftOut }] of before) if (leftOut > 0) counts.set(keyId, { kept: 0, leftOut });
    if (requests.length === 0) return;
    try {
      await keyRequests.add(requests);
    } catch (error) {
      if (onceAWhile('write').say) logger.warn({ err: error }, 'the log of keys could not be written');
    }
  };
  const flush = (): void => {
    writing ??= write().finally(() => {
      writing = undefined;
    });
  };
  const isOn = (until: Date | null): boolean => until !== null && until.getTime() > clock.now();
  const timer = setInterval(flush, FLUSH_MS);
  timer.unref();

  return {
    /** To be called when a request is over. */
    note(exchange: Exchange): void {
      const { key, calls, request, response } = exchange;
      if (key === undefined || !isOn(key.loggedUntil)) return;
      const count = getOrAdd(counts, key.id, () => ({ kept: 0, leftOut: 0 }));
      if (count.kept >= MAX_OF_KEY || unwritten.length >= MAX_OF_ALL) {
        count.leftOut += 1;
        return;
      }
      const status = response.statusCode;
      unwritten.push({
        keyId: key.id,
        at: new Date(clock.now()),
        network: exchange.network,
        method: calls?.methods.join(' ') || exchange.counted || exchange.route,
        calls: calls?.count ?? 0,
        status,
        outcome: toOutcome(exchange, status, isAborted(exchange)),
        ms: Math.round((performance.now() - exchange.startedAt) * 100) / 100,
        units: exchange.units,
        bytes: request.method === 'HEAD' ? 0 : exchange.bytes,
        leftOut: count.leftOut,
        params: isOn(key.paramsUntil) ? describeParams(exchange.body, calls) : null,
      });
      count.kept += 1;
      count.leftOut = 0;
    },
    /** Writes what is not written yet, and stops. */
    async close(): Promise<void> {
      clearInterval(timer);
      await writing;
      await write();
    },
  };
}
