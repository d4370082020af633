import type { KeyRow } from '@packhouse/database';
import { nodeMethod } from '@packhouse/networks';
import { allowsMethod, allowsReading } from '../access/key-restrictions.js';
import type { Exchange } from '../http/exchange.js';
import type { Route } from '../http/route.js';
import { rpcAddresses, type ServedNetwork } from '../networks/served-network.js';
import type { RpcNetwork } from '../rpc/method.js';
import type { GatewayParts } from './common/gateway-parts.js';
import { described, integer, list, nullable, object, refusals, text } from './common/schemas.js';

/** A method as clients see it. */
export interface ListedMethod {
  name: string;
  /** Other spellings of the name. */
  aliases: string[];
  /** Requests that a call counts as. */
  cost: number;
  /** Family of networks that defines it; null: it is passed on to the nodes as it is. */
  family: string | null;
}

const listed = object({
  name: text(),
  aliases: list(text(), 'Other spellings of the name.'),
  cost: integer('Units that a call costs.'),
  family: nullable(text('Family that defines it; null: it is forwarded to the nodes unchanged.')),
});

const schema = {
  summary: 'List the JSON-RPC methods of a network',
  description: 'The methods that the key may call, in alphabetical order. Costs one unit.',
  operationId: 'listMethods',
  tags: ['rpc'],
  params: object({ key: text('API key; an open network needs none.') }),
  response: {
    200: described('The methods.', {
      network: text(),
      family: text(undefined, { enum: ['evm', 'core', 'cell', 'registry'] }),
      chain_id: integer(),
      methods: list(listed),
    }),
    ...refusals('unauthenticated', 'forbidden', 'rate-limited', 'quota-exhausted', 'internal', 'unavailable'),
  },
};

/** `GET {base_url}<KEY>`: the methods of a network; of an open one `GET {base_url}` too. */
export function methodListRoutes(
  parts: GatewayParts,
  served: ServedNetwork,
  network: Pick<RpcNetwork, 'config' | 'methods'>,
): Route[] {
  const { id, family, chainId } = network.config;
  return rpcAddresses(served).map(({ path, keyed }) => ({
    method: 'GET',
    path,
    host: served.base.host,
    name: 'methods',
    network: id,
    schema,
    document: { path: '/{key}', servedAt: 'baseUrl' },
    admit: (exchange: Exchange) =>
      keyed
        ? parts.admission.admit(exchange.param('key'), exchange)
        : parts.addressLimiter.charge(exchange.ip, 1, exchange),
    answer: (exchange: Exchange) =>
      exchange
        .header('cache-control', 'no-store')
        .sendJson({ network: id, family, chain_id: chainId, methods: listMethods(network, exchange.key) }),
  }));
}

/** The methods of a network, or those that a key may call, by name. */
export function listMethods(
  { config: network, methods }: Pick<RpcNetwork, 'config' | 'methods'>,
  key?: KeyRow,
): ListedMethod[] {
  const { aliases, deny } = network.rpc;
  return [...methods.values()]
    .filter(({ contracts }) => key === undefined || allowsReading(key, contracts))
    .map(({ name, cost, passedOn }) => ({
      name,
      aliases: [nodeMethod(name, aliases)].filter((other) => other !== name),
      cost,
      family: passedOn ? null : network.family,
    }))
    .filter((each) => !deny.includes(each.name))
    .filter((each) => key === undefined || allowsMethod(key, each.name, ...each.aliases))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}
