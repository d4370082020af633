import type { Database, KeyRequest } from '@packhouse/database';
import { type Context, createOnceAWhile, getOrAdd, redact, writeEvery } from '@packhouse/runtime';
import type { CallNotes, Exchange } from '../http/exchange.js';
import { isAborted, toOutcome } from '../http/request-log.js';
import { OTHER } from './admission.js';

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
  const isOn = (until: Date | null): boolean => until !== null && until.getTime() > clock.now();
  const writing = writeEvery(FLUSH_MS, write);

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
    close: writing.close,
  };
}

/** Bytes of a body that is parsed again for the log. */
const MAX_BODY = 16_384;
/** Characters of all parameters, and of one text; values of one list. */
const MAX_TEXT = 1_000;
const MAX_STRING = 100;
const MAX_VALUES = 20;
/** Methods that are named of a request: of more it is not known whether the network offers them. */
const MAX_METHODS = 9;

/**
 * The parameters of the calls of a request, as JSON that is cut, without API keys and credentials. Null if its
 * calls were refused, or one is of no method that the network offers: that may have anything, such as a private key.
 */
function describeParams(body: Buffer | undefined, calls: CallNotes | undefined): string | null {
  if (body === undefined || calls === undefined || calls.methods.length === 0) return null;
  if (calls.methods.length > MAX_METHODS || calls.methods.includes(OTHER.name)) return null;
  if (body.length > MAX_BODY) return `more than ${MAX_BODY} bytes`;
  const parsed: unknown = JSON.parse(body.toString('utf8').replace(/^\uFEFF/, ''));
  const params = Array.isArray(parsed) ? parsed.map(getParams) : getParams(parsed);
  const text = redact(JSON.stringify(cut(params)));
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
}

const getParams = (call: unknown): unknown => (call as { params?: unknown } | null)?.params ?? [];

function cut(value: unknown): unknown {
  if (typeof value === 'string') return value.length > MAX_STRING ? `${value.slice(0, MAX_STRING)}…` : value;
  if (Array.isArray(value)) {
    const more = value.length > MAX_VALUES ? [`… ${value.length - MAX_VALUES} more`] : [];
    return [...value.slice(0, MAX_VALUES).map(cut), ...more];
  }
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).slice(0, MAX_VALUES);
  return Object.fromEntries(fields.map(([name, each]) => [name.slice(0, MAX_STRING), cut(each)]));
}
