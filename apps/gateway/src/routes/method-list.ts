import type { KeyRow } from '@packhouse/database';
import { nodeMethod } from '@packhouse/networks';
import { allowsMethod } from '../access/key-restrictions.js';
import type { Exchange } from '../http/exchange.js';
import type { Route } from '../http/router.js';
import type { ServedNetwork } from '../networks/served-network.js';
import type { RpcNetwork } from '../rpc/method.js';
import type { GatewayParts } from './gateway-parts.js';
import { refusals } from './schemas.js';

/** A method as clients are told about it. */
export interface ListedMethod {
  name: string;
  /** Other spellings of the name. */
  aliases: string[];
  /** Requests that a call counts as. */
  cost: number;
  /** Family of networks that defines it; null: it is passed on to the nodes as it is. */
  family: string | null;
}

const text = { type: 'string' } as const;

const schema = {
  summary: 'The JSON-RPC methods of a network',
  description: 'Those that the key may call, in alphabetical order. Counts as one request.',
  operationId: 'listMethods',
  tags: ['rpc'],
  params: {
    properties: { key: { ...text, description: 'API key; an open network is asked without one too.' } },
  },
  response: {
    200: {
      description: 'The methods.',
      type: 'object',
      required: ['network', 'family', 'chain_id', 'methods'],
      properties: {
        network: text,
        family: { type: 'string', enum: ['evm', 'core', 'cell', 'registry'] },
        chain_id: { type: 'integer' },
        methods: {
          type: 'array',
          items: {
            type: 'object',
            required: ['name', 'aliases', 'cost', 'family'],
            properties: {
              name: text,
              aliases: { type: 'array', items: text, description: 'Other spellings of the name.' },
              cost: { type: 'integer', description: 'Requests that a call counts as.' },
              family: {
                type: ['string', 'null'],
                description: 'Family that defines it; null: it is passed on to the nodes as it is.',
              },
            },
          },
        },
      },
    },
    ...refusals('unauthenticated', 'forbidden', 'rate-limited', 'quota-exhausted', 'internal', 'unavailable'),
  },
} as const;

/** `GET {base_url}<KEY>`: the methods of a network; of an open one `GET {base_url}` too. */
export function methodListRoutes(
  parts: GatewayParts,
  { base }: ServedNetwork,
  at: Pick<RpcNetwork, 'network' | 'methods'>,
): Route[] {
  const { id, family, chainId, rpc } = at.network;
  const keyed = `${base.path}/:key`;
  const paths = rpc.open ? [base.path, `${base.path}/`, keyed] : [keyed];
  return paths.map((path) => ({
    method: 'GET',
    path,
    host: base.host,
    name: 'methods',
    network: id,
    schema,
    document: { path: '/{key}', servedAt: 'baseUrl' },
    admit: (exchange: Exchange) =>
      path === keyed
        ? parts.admission.admit(exchange.param('key'), exchange)
        : parts.addressLimiter.charge(exchange.ip, 1, exchange),
    answer: (exchange: Exchange) =>
      exchange
        .header('cache-control', 'no-store')
        .sendJson({ network: id, family, chain_id: chainId, methods: listMethods(at, exchange.key) }),
  }));
}

/** The methods of a network, or those that a key may call, by name. */
export function listMethods(
  { network, methods }: Pick<RpcNetwork, 'network' | 'methods'>,
  key?: KeyRow,
): ListedMethod[] {
  const { aliases, deny } = network.rpc;
  return [...methods.values()]
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
