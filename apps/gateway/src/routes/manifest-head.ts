import { entryLine } from '@packhouse/manifest';
import { Problem } from '../http/problem.js';
import type { Route } from '../http/router.js';
import type { ServedNetwork } from '../networks/served-network.js';
import type { GatewayParts } from './gateway-parts.js';
import { COMMON_REFUSALS, keyParams, refusals } from './schemas.js';

const schema = {
  summary: 'The newest entry of the signed log of each kind',
  description:
    'JSON lines, one entry a kind that has any. Each is signed and dated, and its sequence says how many entries the log had then: who keeps it knows when the end of a manifest is cut off.',
  tags: ['bundles'],
  operationId: 'getManifestHead',
  params: keyParams,
  response: {
    200: {
      description: 'The newest entries; none before anything is published.',
      content: { 'application/x-ndjson': { schema: { type: 'string' } } },
    },
    ...refusals(...COMMON_REFUSALS),
  },
} as const;

/** `GET {base_url}<KEY>/bundle-api/manifest/head` of one network. */
export function manifestHeadRoute(parts: GatewayParts, { network, base }: ServedNetwork): Route {
  const { manifest } = parts.database.network(network.id);
  return {
    method: 'GET',
    path: `${base.path}/:key/bundle-api/manifest/head`,
    host: base.host,
    name: 'manifest-head',
    network: network.id,
    schema,
    document: { path: '/{key}/bundle-api/manifest/head', servedAt: 'baseUrl' },
    async answer(exchange) {
      await parts.admission.admit(exchange.param('key'), exchange);
      if (!network.bundles.enabled) {
        throw new Problem('network-without-bundles', { detail: `The network ${network.id} has no bundles.` });
      }
      const lines = await Promise.all(
        network.bundles.kinds.map(async (kind) => {
          const tip = await manifest.tip(kind);
          const [newest] = tip === null ? [] : await manifest.entries(kind, tip.sequence - 1, 1);
          return newest === undefined ? '' : `${entryLine(newest)}\n`;
        }),
      );
      exchange.header('cache-control', 'private, no-cache').sendText(lines.join(''), 'application/x-ndjson');
    },
  };
}
