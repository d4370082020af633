import type { Exchange } from '../../http/exchange.js';
import { Problem } from '../../http/problem.js';

/** The parameters of a query, each of these names at most once. Throws the problem `query-invalid`. */
export function readParameters<Name extends string>(
  query: Exchange['query'],
  names: readonly Name[],
): Partial<Record<Name, string>> {
  for (const [name, value] of Object.entries(query)) {
    // The name may be anything, a key too, so it is not repeated.
    if (!(names as readonly string[]).includes(name)) {
      throw new Problem('query-invalid', {
        detail: `Unknown query parameter; expected one of ${names.join(', ')}.`,
        members: { parameters: names },
      });
    }
    if (typeof value !== 'string') throw queryInvalid(name, 'is repeated');
  }
  return query as Partial<Record<Name, string>>;
}

/** The refusal of a query parameter; `what` is said of it. */
export function queryInvalid(parameter: string, what: string): Problem {
  return new Problem('query-invalid', {
    detail: `The query parameter "${parameter}" ${what}.`,
    members: { parameter },
  });
}
