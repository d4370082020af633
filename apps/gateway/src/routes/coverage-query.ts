import type { Kind } from '@packhouse/chain';
import type { Plan } from '@packhouse/database';
import type { Network } from '@packhouse/networks';
import type { CoverageRequest } from '@packhouse/pipeline';
import { refuseAbovePlan } from '../access/admission.js';
import { chosenKind } from './chosen-kind.js';
import { rangeQuery } from './range-query.js';

/** Holes of each kind on a page: by default, and at most. */
export const DEFAULT_LIMIT = 500;
export const MAX_LIMIT = 5_000;

/**
 * Reads the query of a coverage request. Throws what `rangeQuery` throws, `kind-unknown`, `kind-not-enabled`,
 * `network-without-bundles`, and `plan-limit` if `from` or `to` is above the last block of the plan. The default of
 * `to` is at most that block.
 */
export function coverageQuery(
  query: Readonly<Record<string, unknown>>,
  network: Network,
  plan: Plan,
): CoverageRequest {
  const { kind, from, to, limit, cursor } = rangeQuery(query, { usual: DEFAULT_LIMIT, most: MAX_LIMIT });
  const kinds: readonly Kind[] = kind === undefined ? network.bundles.kinds : [chosenKind(network, kind)];
  for (const block of [from, to]) if (block !== undefined) refuseAbovePlan(plan, block);
  return {
    ...{ network: network.id, kinds, from, to, maxBlock: plan.maxBlock },
    ...{ limit, start: cursor },
  };
}
