import type { Kind } from '@packhouse/chain';
import type { Plan } from '@packhouse/database';
import type { Network } from '@packhouse/networks';
import type { CoverageRequest } from '@packhouse/pipeline';
import { refuseAbovePlan } from '../access/admission.js';
import { blockNumber } from '../http/block-number.js';
import { Problem } from '../http/problem.js';
import { chosenKind } from './chosen-kind.js';

/** Holes of each kind on a page: by default, and at most. */
export const DEFAULT_LIMIT = 500;
export const MAX_LIMIT = 5_000;

const PARAMETERS = ['kind', 'from', 'to', 'limit', 'cursor'] as const;
type Parameter = (typeof PARAMETERS)[number];

/**
 * Reads the query of a coverage request. Throws `kind-unknown`, `kind-not-enabled`, `network-without-bundles`,
 * `block-number-invalid`, `query-invalid`, and `plan-limit` if `from` or `to` is above the last block of the plan. The
 * default of `to` is at most that block.
 */
export function coverageQuery(
  query: Readonly<Record<string, unknown>>,
  network: Network,
  plan: Plan,
): CoverageRequest {
  const given = parametersOf(query);
  const kinds: readonly Kind[] =
    given.kind === undefined ? network.bundles.kinds : [chosenKind(network, given.kind)];
  const [from, to] = [numberOf(given.from), numberOf(given.to)];
  if (from !== undefined && to !== undefined && to < from) {
    throw new Problem('query-invalid', {
      detail: `The range is reversed: "to" is ${to} and lies before "from", which is ${from}.`,
      members: { parameter: 'to' },
    });
  }
  for (const block of [from, to]) if (block !== undefined) refuseAbovePlan(plan, block);
  return {
    ...{ network: network.id, kinds, from, to, maxBlock: plan.maxBlock },
    limit: limitOf(given.limit),
    start: cursorOf(given.cursor, from ?? 0, to),
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

function limitOf(text: string | undefined): number {
  if (text === undefined) return DEFAULT_LIMIT;
  const limit = /^[1-9]\d{0,5}$/.test(text) ? Number(text) : Number.NaN;
  if (limit <= MAX_LIMIT) return limit;
  throw new Problem('query-invalid', {
    detail: `The query parameter "limit" must be a whole number from 1 to ${MAX_LIMIT}.`,
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
