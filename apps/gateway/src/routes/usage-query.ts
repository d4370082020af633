import { parseDay, parseSince, USAGE_GROUPS, type UsageGroup } from '@packhouse/database';
import { Problem } from '../http/problem.js';

/** What a key asks about its usage; days are days since 1970-01-01 in UTC. */
interface UsageQuery {
  since: number;
  until: number;
  by: Exclude<UsageGroup, 'key'>;
}

export const GROUPS = USAGE_GROUPS.filter((group) => group !== 'key');

/** Most days of an answer. */
export const MAX_DAYS = 400;
const DEFAULT_DAYS = 7;
const DAY_MS = 86_400_000;
const PARAMETERS: readonly string[] = ['since', 'until', 'by'];

/** Reads the query of a usage request at the time `now`. Throws the problem `query-invalid`. */
export function usageQuery(query: Readonly<Record<string, unknown>>, now: number): UsageQuery {
  for (const [name, value] of Object.entries(query)) {
    // The name may be anything, a key too, so it is not repeated.
    if (!PARAMETERS.includes(name)) {
      throw new Problem('query-invalid', {
        detail: `There is a query parameter that is unknown here; there are ${PARAMETERS.join(', ')}.`,
        members: { parameters: PARAMETERS },
      });
    }
    if (typeof value !== 'string') throw invalid(name, 'is given more than once');
  }
  const given = query as Readonly<Record<string, string | undefined>>;
  const until = given.until === undefined ? Math.floor(now / DAY_MS) : parseDay(given.until);
  if (until === null) throw invalid('until', 'must be a date such as 2026-11-22');
  const since = given.since === undefined ? until - DEFAULT_DAYS + 1 : parseSince(given.since, until);
  if (since === null) {
    throw invalid('since', `must be a date such as 2026-11-22, or days such as 7d, ${MAX_DAYS} at most`);
  }
  if (since > until) throw invalid('since', 'lies after "until"');
  if (until - since >= MAX_DAYS) throw invalid('since', `asks for more than ${MAX_DAYS} days`);
  const by = GROUPS.find((group) => group === (given.by ?? 'day'));
  if (by === undefined) throw invalid('by', `must be one of ${GROUPS.join(', ')}`);
  return { since, until, by };
}

function invalid(parameter: string, what: string): Problem {
  return new Problem('query-invalid', {
    detail: `The query parameter "${parameter}" ${what}.`,
    members: { parameter },
  });
}
