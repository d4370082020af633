import { newBlockFile } from '@packhouse/manifest';
import { requireWithinPlan } from '../../access/admission.js';
import { JSON_TYPE } from '../../http/exchange.js';
import { thenSync } from '../../http/maybe-promise.js';
import type { Route } from '../../http/route.js';
import { isBelowServer, type ServedNetwork } from '../../networks/served-network.js';
import type { GatewayParts } from '../common/gateway-parts.js';
import { blockNumber, keyedRoute, readKind } from '../common/keyed-route.js';
import { block, COMMON_REFUSALS, described, kindSchema, object, refusals, text } from '../common/schemas.js';

const schema = {
  summary: 'Find the file that contains a block',
  description: 'A new block has its own file; older blocks share files of about 1 MB.',
  tags: ['bundles'],
  operationId: 'getBundlePointer',
  params: object({ key: text('API key.'), kind: kindSchema, block_number: block('Decimal.') }),
  response: {
    200: described(
      'The pointer. The header packhouse-not-proved lists proofs that were not made for blocks of the file, and why.',
      {
        type: kindSchema,
        range: text('<start>-<end>, inclusive; includes the requested block.'),
        download_link: text(
          'Address of the file; GET it with Authorization: Bearer <API key>. That of a new block ends in ?hash=<its hash>, and answers 410 once a reorganisation removed the block.',
        ),
      },
      { additionalProperties: false },
    ),
    ...refusals(...COMMON_REFUSALS, 'block-number-invalid', 'not-produced', 'not-covered', 'reorganised'),
  },
};

/** `GET {base_url}<KEY>/bundle-api/<kind>/<block_number>` of one network. */
export function bundlePointerRoute(parts: GatewayParts, served: ServedNetwork): Route {
  const { admission, pointers } = parts;
  const { network } = served;
  const quotedStart = createQuotedStart();
  return keyedRoute(served, '/bundle-api/:kind/:block_number', {
    name: 'pointer',
    schema,
    tellsAddress: isBelowServer(served, 'downloadUrl'),
    answer: (exchange) =>
      thenSync(admission.admit(exchange.param('key'), exchange), (key) => {
        const kind = readKind(network, exchange.param('kind'));
        exchange.kind = kind;
        const number = blockNumber(exchange.param('block_number'));
        requireWithinPlan(key.plan, number);
        return thenSync(pointers.find(network.id, kind, number), (found) => {
          // A plan's limit may lie inside a bundle; the key must be allowed to follow the link.
          const range =
            (key.plan.maxBlock ?? found.lastBlock) < found.lastBlock
              ? `${number}-${number}`
              : `${found.firstBlock}-${found.lastBlock}`;
          const file = found.hash === undefined ? `${range}.json.gz` : newBlockFile(number, found.hash);
          const link = `${quotedStart(served.downloadUrl)}/${kind}/${file}"`;
          if (found.notProved !== undefined) exchange.header('packhouse-not-proved', found.notProved);
          exchange
            .header('cache-control', 'no-store')
            .sendText(`{"type":"${kind}","range":"${range}","download_link":${link}}`, JSON_TYPE);
        });
      }),
  });
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
