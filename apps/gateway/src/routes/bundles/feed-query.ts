import { KINDS, type Kind } from '@packhouse/chain';
import type { Network } from '@packhouse/networks';
import type { Exchange } from '../../http/exchange.js';
import { blockNumber, queryInvalid, readKind, readParameters } from '../common/keyed-route.js';
import { block, integer, object, text } from '../common/schemas.js';

/** Seconds that an answer may wait for something to happen, and steps of it: by default, and at most. */
const WAIT = { usual: 25, most: 60 };
const LIMIT = { usual: 1_000, most: 10_000 };

/** JSON Schema of the query. */
export const feedParameters = object(
  {},
  {
    optional: {
      kinds: text(`Kinds with commas between, of ${KINDS.join(', ')}; required without a cursor.`),
      from: block('The first block; instead of a cursor.'),
      cursor: text('The cursor of the last step. Of a stream also the header Last-Event-ID.'),
      wait: integer('Seconds to wait if nothing is there.', {
        minimum: 0,
        maximum: WAIT.most,
        default: WAIT.usual,
      }),
      final: text('only: nothing that a reorganisation can remove.', {
        enum: ['all', 'only'],
        default: 'all',
      }),
      skip: text('holes: leaves out blocks that nobody is about to fetch, and says which.', {
        enum: ['holes'],
      }),
      limit: integer('Maximum steps of an answer.', {
        minimum: 1,
        maximum: LIMIT.most,
        default: LIMIT.usual,
      }),
    },
  },
);

/** A request for a feed. */
interface FeedQuery {
  /** Absent: those of the cursor. */
  kinds: readonly Kind[] | undefined;
  /** Exactly one of both is there. */
  start: { from: number; kinds: readonly Kind[] } | { cursor: string };
  waitMs: number;
  final: 'only' | 'all';
  skipHoles: boolean;
  limit: number;
}

const NAMES = ['kinds', 'from', 'cursor', 'wait', 'final', 'skip', 'limit'] as const;

/**
 * Reads a request; of a stream, Last-Event-ID takes the place of where it began. Throws `query-invalid`,
 * `block-number-invalid`, and what is wrong with a kind.
 */
export function readFeedQuery(network: Network, { query, request }: Exchange, isStream: boolean): FeedQuery {
  const given = readParameters(query, NAMES);
  const lastEvent = isStream ? request.headers['last-event-id'] : undefined;
  const cursor = typeof lastEvent === 'string' && lastEvent !== '' ? lastEvent : given.cursor;
  const kinds = given.kinds === undefined ? undefined : readKinds(network, given.kinds);
  const from = given.from === undefined ? undefined : blockNumber(given.from);
  return {
    kinds,
    start: getStart(kinds, from, cursor, lastEvent !== undefined),
    waitMs: toInteger('wait', given.wait, 0, WAIT) * 1_000,
    final: toOneOf('final', given.final, ['all', 'only'] as const) ?? 'all',
    skipHoles: toOneOf('skip', given.skip, ['holes'] as const) !== undefined,
    limit: toInteger('limit', given.limit, 1, LIMIT),
  };
}

function readKinds(network: Network, list: string): Kind[] {
  const kinds = list.split(',').map((kind) => readKind(network, kind));
  if (new Set(kinds).size !== kinds.length) throw queryInvalid('kinds', 'names a kind twice');
  return KINDS.filter((kind) => kinds.includes(kind));
}

function getStart(
  kinds: readonly Kind[] | undefined,
  from: number | undefined,
  cursor: string | undefined,
  goesOn: boolean,
): FeedQuery['start'] {
  if (cursor !== undefined) {
    if (from === undefined || goesOn) return { cursor };
    throw queryInvalid('from', 'must not be given with "cursor"');
  }
  if (from === undefined) throw queryInvalid('from', 'is required, or a cursor');
  if (kinds === undefined) throw queryInvalid('kinds', 'is required with "from"');
  return { from, kinds };
}

function toInteger(
  name: string,
  given: string | undefined,
  least: number,
  { usual, most }: { usual: number; most: number },
): number {
  if (given === undefined) return usual;
  const value = /^(?:0|[1-9]\d{0,5})$/.test(given) ? Number(given) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw queryInvalid(name, `must be an integer from ${least} to ${most}`);
}

function toOneOf<T extends string>(
  name: string,
  given: string | undefined,
  values: readonly T[],
): T | undefined {
  if (given === undefined) return undefined;
  const found = values.find((value) => value === given);
  if (found === undefined) throw queryInvalid(name, `must be ${values.join(' or ')}`);
  return found;
}
