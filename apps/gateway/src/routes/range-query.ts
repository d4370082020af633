import { blockNumber } from '../http/block-number.js';
import { Problem } from '../http/problem.js';
import { kindSchema } from './schemas.js';

const block = { type: 'integer', minimum: 0 } as const;

/** JSON Schema of a query that names the kind; `cursor`: where it is from. */
export function rangeParameters({ usual, most }: { usual: number; most: number }, cursor: string) {
  return {
    type: 'object',
    required: ['kind'],
    properties: {
      kind: kindSchema,
      from: { ...block, description: 'First block; default 0.' },
      to: { ...block, description: 'Last block; default: all that is published.' },
      limit: {
        ...{ type: 'integer', minimum: 1, maximum: most, default: usual },
        description: 'Files on a page, at most.',
      },
      cursor: { type: 'string', description: cursor },
    },
  } as const;
}

const PARAMETERS = ['kind', 'from', 'to', 'limit', 'cursor'] as const;
type Parameter = (typeof PARAMETERS)[number];

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
export function rangeQuery(
  query: Readonly<Record<string, unknown>>,
  limits: { usual: number; most: number },
): RangeQuery {
  const given = parametersOf(query);
  const [from, to] = [numberOf(given.from), numberOf(given.to)];
  if (from !== undefined && to !== undefined && to < from) {
    throw new Problem('query-invalid', {
      detail: `The range is reversed: "to" is ${to} and lies before "from", which is ${from}.`,
      members: { parameter: 'to' },
    });
  }
  return {
    ...{ kind: given.kind, from, to },
    limit: limitOf(given.limit, limits),
    cursor: cursorOf(given.cursor, from ?? 0, to),
  };
}

function parametersOf(query: Readonly<Record<string, unknown>>): Partial<Record<Parameter, string>> {
  for (const [name, value] of Object.entries(query)) {
    if (!(PARAMETERS as readonly string[]).includes(name)) {
      // The name may be anything, a key too, so it is not repeated.
      throw new Problem('query-invalid', {
        detail: `There is a query parameter that is unknown here; there are ${PARAMETERS.join(', ')}.`,
        members: { parameters: PARAMETERS },
      });
    }
    if (typeof value !== 'string') {
      throw new Problem('query-invalid', {
        detail: `The query parameter "${name}" is given more than once.`,
        members: { parameter: name },
      });
    }
  }
  return query;
}

function numberOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : blockNumber(text);
}

function limitOf(text: string | undefined, { usual, most }: { usual: number; most: number }): number {
  if (text === undefined) return usual;
  const limit = /^[1-9]\d{0,5}$/.test(text) ? Number(text) : Number.NaN;
  if (limit <= most) return limit;
  throw new Problem('query-invalid', {
    detail: `The query parameter "limit" must be a whole number from 1 to ${most}.`,
    members: { parameter: 'limit' },
  });
}

function cursorOf(text: string | undefined, from: number, to: number | undefined): number | undefined {
  if (text === undefined) return undefined;
  const block = /^(?:0|[1-9]\d{0,15})$/.test(text) ? Number(text) : Number.NaN;
  if (block >= from && block <= (to ?? Number.MAX_SAFE_INTEGER - 1)) return block;
  throw cursorInvalid();
}

/** The refusal for a cursor outside of the requested range. */
export function cursorInvalid(): Problem {
  return new Problem('query-invalid', {
    detail: 'The query parameter "cursor" must be the "next" of a page of the same range.',
    members: { parameter: 'cursor' },
  });
}
