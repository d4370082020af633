import { refuseAbovePlan } from '../access/admission.js';
import { blockNumber } from '../http/block-number.js';
import { JSON_TYPE } from '../http/exchange.js';
import type { Route } from '../http/router.js';
import { whenHere } from '../http/soon.js';
import type { ServedNetwork } from '../networks/served-network.js';
import { chosenKind } from './chosen-kind.js';
import type { GatewayParts } from './gateway-parts.js';
import { COMMON_REFUSALS, kindSchema, refusals } from './schemas.js';

const schema = {
  summary: 'Where the file is that holds a block',
  description: 'A block that is still new has a file of its own; an old one shares a file of about 1 MB.',
  tags: ['bundles'],
  operationId: 'getBundlePointer',
  params: {
    type: 'object',
    required: ['key', 'kind', 'block_number'],
    properties: {
      key: { type: 'string', description: 'API key.' },
      kind: kindSchema,
      block_number: { type: 'integer', minimum: 0, description: 'Decimal.' },
    },
  },
  response: {
    200: {
      description:
        'The pointer. The header packhouse-not-proved names proofs that were not made for blocks of the file, and why.',
      type: 'object',
      required: ['type', 'range', 'download_link'],
      additionalProperties: false,
      properties: {
        type: kindSchema,
        range: { type: 'string', description: '<start>-<end>, inclusive, holds the block asked for.' },
        download_link: {
          type: 'string',
          description: 'Address of the file; GET it with Authorization: Bearer <API key>.',
        },
      },
    },
    ...refusals(...COMMON_REFUSALS, 'block-number-invalid', 'beyond-head', 'not-covered', 'reorganised'),
  },
} as const;

/** `GET {base_url}<KEY>/bundle-api/<kind>/<block_number>` of one network. */
export function bundlePointerRoute(parts: GatewayParts, served: ServedNetwork): Route {
  const { admission, pointers } = parts;
  const { network, base } = served;
  const quotedStart = createQuotedStart();
  return {
    method: 'GET',
    path: `${base.path}/:key/bundle-api/:kind/:block_number`,
    host: base.host,
    name: 'pointer',
    network: network.id,
    schema,
    document: { path: '/{key}/bundle-api/{kind}/{block_number}', servedAt: 'baseUrl' },
    answer: (exchange) =>
      whenHere(admission.admit(exchange.param('key'), exchange), (key) => {
        const kind = chosenKind(network, exchange.param('kind'));
        exchange.kind = kind;
        const block = blockNumber(exchange.param('block_number'));
        refuseAbovePlan(key.plan, block);
        return whenHere(pointers.find(network.id, kind, block), (found) => {
          // A plan's limit may lie inside a bundle; the key must be allowed to follow the link.
          const range =
            (key.plan.maxBlock ?? found.end) < found.end
              ? `${block}-${block}`
              : `${found.start}-${found.end}`;
          const link = `${quotedStart(served.downloadUrl)}/${kind}/${range}.json.gz"`;
          if (found.notProved !== undefined) exchange.header('packhouse-not-proved', found.notProved);
          exchange
            .header('cache-control', 'no-store')
            .sendText(`{"type":"${kind}","range":"${range}","download_link":${link}}`, JSON_TYPE);
        });
      }),
  };
}

/**
 * Returns a function that writes the beginning of a JSON string; the address is another one only after the server
 * begins to listen. JSON.stringify of the whole answer would take a sixth of a pointer's time.
 */
function createQuotedStart(): (text: string) => string {
  let last = '';
  let quoted = '"';
  return (text) => {
    if (text !== last) {
      last = text;
      quoted = JSON.stringify(text).slice(0, -1);
    }
    return quoted;
  };
}
