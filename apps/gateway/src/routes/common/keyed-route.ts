import { isKind, KINDS, type Kind } from '@packhouse/chain';
import type { Network } from '@packhouse/networks';
import type { Exchange } from '../../http/exchange.js';
import { Problem } from '../../http/problem.js';
import type { Route } from '../../http/route.js';
import type { ServedNetwork } from '../../networks/served-network.js';

/** A route of one network below `{base_url}<KEY>`: GET, unless it says otherwise. */
export function keyedRoute(
  { network, base }: ServedNetwork,
  path: string,
  route: Pick<Route, 'name' | 'schema' | 'bodyLimit' | 'tellsAddress' | 'admit' | 'answer'> &
    Partial<Pick<Route, 'method'>>,
): Route {
  return {
    method: 'GET',
    path: `${base.path}/:key${path}`,
    host: base.host,
    network: network.id,
    document: { path: `/{key}${path.replace(/:(\w+)/g, '{$1}')}`, servedAt: 'baseUrl' },
    ...route,
  };
}

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

const DECIMAL = /^(?:0|[1-9]\d{0,15})$/;

/** Reads a block number from a path. Throws the problem `block-number-invalid` unless it is a plain decimal integer. */
export function blockNumber(text: string): number {
  const number = DECIMAL.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(number)) return number;
  throw new Problem('block-number-invalid', {
    detail:
      'The block number must be a decimal integer without sign, leading zeros or 0x, from 0 to 9007199254740991.',
  });
}

/** The kind that a path names. Throws `network-without-bundles`, `kind-unknown`, `kind-not-enabled`. */
export function readKind(network: Network, text: string): Kind {
  requireBundles(network);
  if (!isKind(text)) {
    throw new Problem('kind-unknown', {
      detail: `Unknown kind of data; expected one of ${KINDS.join(', ')}.`,
      members: { kinds: KINDS },
    });
  }
  if (!network.bundles.kinds.includes(text)) {
    throw new Problem('kind-not-enabled', {
      detail: `The network ${network.id} does not have ${text}; it has ${network.bundles.kinds.join(', ')}.`,
      members: { kinds: network.bundles.kinds },
    });
  }
  return text;
}

/** Throws the problem `network-without-bundles`. */
export function requireBundles({ id, bundles }: Network): void {
  if (bundles.enabled) return;
  throw new Problem('network-without-bundles', { detail: `The network ${id} has no bundles.` });
}

/** As `readKind`, for a kind that a query must name. Throws `query-invalid` without one. */
export function readQueryKind(network: Network, text: string | undefined): Kind {
  if (text !== undefined) return readKind(network, text);
  const { kinds } = network.bundles;
  throw new Problem('query-invalid', {
    detail: `The query parameter "kind" is required: one of ${kinds.join(', ')}.`,
    members: { parameter: 'kind', kinds },
  });
}
