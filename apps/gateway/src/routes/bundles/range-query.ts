import type { Plan } from '@packhouse/database';
import type { Network } from '@packhouse/networks';
import type { Exchange } from '../../http/exchange.js';
import { Problem } from '../../http/problem.js';
import { blockNumber, queryInvalid, readParameters, readQueryKind } from '../common/keyed-route.js';
import { block, integer, kindSchema, object, text } from '../common/schemas.js';

/** Items on a page: by default, and at most. */
interface Limits {
  readonly usual: number;
  readonly most: number;
}

export function limitParameter({ usual, most }: Limits, description: string) {
  return integer(description, { minimum: 1, maximum: most, default: usual });
}

/** JSON Schema of a query that names the kind; `cursor`: where it is from. */
export function rangeParameters(limits: Limits, cursor: string) {
  const optional = {
    from: block('First block; default 0.'),
    to: block('Last block; default: the last published one.'),
    limit: limitParameter(limits, 'Maximum files on a page.'),
    cursor: text(cursor),
  };
  return object({ kind: kindSchema }, { optional });
}

const PARAMETERS = ['kind', 'from', 'to', 'limit', 'cursor'] as const;

/** A question about a range of blocks that is answered in pages. */
interface RangeQuery {
  kind: string | undefined;
  from: number | undefined;
  to: number | undefined;
  limit: number;
  /** The block that the page begins at, within `from` and `to`. */
  cursor: number | undefined;
}

/**
 * Reads `kind`, `from`, `to`, `limit` and `cursor`; the kind is not checked. Throws `block-number-invalid` and
 * `query-invalid`.
 */
export function readRangeQuery(query: Exchange['query'], limits: Limits): RangeQuery {
  const given = readParameters(query, PARAMETERS);
  const [from, to] = [toNumber(given.from), toNumber(given.to)];
  if (from !== undefined && to !== undefined && to < from) {
    throw new Problem('query-invalid', {
      detail: `The range is reversed: "to" is ${to}, before "from", ${from}.`,
      members: { parameter: 'to' },
    });
  }
  return {
    kind: given.kind,
    from,
    to,
    limit: getLimit(given.limit, limits),
    cursor: getCursor(given.cursor, from ?? 0, to),
  };
}

function toNumber(text: string | undefined): number | undefined {
  return text === undefined ? undefined : blockNumber(text);
}

function getLimit(text: string | undefined, { usual, most }: Limits): number {
  if (text === undefined) return usual;
  const limit = /^[1-9]\d{0,5}$/.test(text) ? Number(text) : Number.NaN;
  if (limit <= most) return limit;
  throw queryInvalid('limit', `must be an integer from 1 to ${most}`);
}

function getCursor(text: string | undefined, from: number, to: number | undefined): number | undefined {
  if (text === undefined) return undefined;
  const block = /^(?:0|[1-9]\d{0,15})$/.test(text) ? Number(text) : Number.NaN;
  if (block >= from && block <= (to ?? Number.MAX_SAFE_INTEGER - 1)) return block;
  throw cursorInvalid();
}

/** Reads a question about files of one kind, whose page ends where the plan of the key does. */
export function readFilesQuery(exchange: Exchange, network: Network, plan: Plan, limits: Limits) {
  const { cursor, from = 0, kind: named, limit, to } = readRangeQuery(exchange.query, limits);
  const kind = readQueryKind(network, named);
  exchange.kind = kind;
  const last = to ?? Number.MAX_SAFE_INTEGER;
  const range = { firstBlock: cursor ?? from, lastBlock: Math.min(last, plan.maxBlock ?? last) };
  return { kind, range, last, limit };
}

/** The refusal for a cursor outside of the requested range. */
export function cursorInvalid(): Problem {
  return queryInvalid('cursor', 'must be the "next" of a page of the same range');
}
