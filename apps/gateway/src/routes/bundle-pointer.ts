import type { FastifyInstance } from 'fastify';
import { refuseAbovePlan } from '../auth/admission.js';
import { blockNumber } from '../http/block-number.js';
import { whenHere } from '../server/soon.js';
import { constraintsOf } from '../sites/host-constraint.js';
import type { Site } from '../sites/site.js';
import { chosenKind } from './chosen-kind.js';
import type { GatewayParts } from './gateway-parts.js';
import { COMMON_REFUSALS, kindSchema, refusals } from './schemas.js';

interface Params {
  key: string;
  kind: string;
  block_number: string;
}

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
      description: 'The pointer.',
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
export function bundlePointerRoute(app: FastifyInstance, parts: GatewayParts, site: Site): void {
  app.get<{ Params: Params }>(
    `${site.base.path}/:key/bundle-api/:kind/:block_number`,
    {
      schema,
      constraints: constraintsOf(site.base),
      config: { document: { path: '/{key}/bundle-api/{kind}/{block_number}', servedAt: 'baseUrl' } },
    },
    (request, reply) => {
      const { params, visit } = request;
      visit.route = 'pointer';
      visit.network = site.network.id;
      return whenHere(parts.admission.admit(params.key, visit, reply), (key) => {
        const kind = chosenKind(site.network, params.kind);
        visit.kind = kind;
        const block = blockNumber(params.block_number);
        refuseAbovePlan(key.plan, block);
        return whenHere(parts.pointers.find(site.network.id, kind, block), (found) => {
          // A plan's limit may lie inside a bundle: the link that is handed out must be one that it may follow.
          const { start, end } =
            (key.plan.maxBlock ?? found.end) < found.end ? { start: block, end: block } : found;
          const range = `${start}-${end}`;
          reply
            .header('cache-control', 'no-store')
            .send({ type: kind, range, download_link: `${site.downloadUrl}/${kind}/${range}.json.gz` });
        });
      });
    },
  );
}
