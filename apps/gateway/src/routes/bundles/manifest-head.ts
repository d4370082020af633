import { entryLine } from '@packhouse/manifest';
import type { Route } from '../../http/route.js';
import type { ServedNetwork } from '../../networks/served-network.js';
import type { GatewayParts } from '../common/gateway-parts.js';
import { keyedRoute } from '../common/keyed-route.js';
import { COMMON_REFUSALS, keyParams, refusals, text } from '../common/schemas.js';
import { requireBundles } from './read-kind.js';

const schema = {
  summary: 'Get the newest manifest entry of each kind',
  description:
    'JSON lines, one entry per kind. Each is signed and dated, and its sequence is the number of entries at that time. Keep it to detect a truncated manifest later. The header packhouse-manifest-blocks has the first and the last published block of each kind.',
  tags: ['bundles'],
  operationId: 'getManifestHead',
  params: keyParams,
  response: {
    200: {
      description: 'The newest entries; empty before anything is published.',
      content: { 'application/x-ndjson': { schema: text() } },
    },
    ...refusals(...COMMON_REFUSALS),
  },
};

/** `GET {base_url}<KEY>/bundle-api/manifest/head` of one network. */
export function manifestHeadRoute(parts: GatewayParts, served: ServedNetwork): Route {
  const { network } = served;
  const { manifest } = parts.database.network(network.id);
  return keyedRoute(served, '/bundle-api/manifest/head', {
    name: 'manifest-head',
    schema,
    async answer(exchange) {
      await parts.admission.admit(exchange.param('key'), exchange);
      requireBundles(network);
      const heads = await Promise.all(
        network.bundles.kinds.map(async (kind) => {
          const tip = await manifest.tip(kind);
          const [newest] = tip === null ? [] : await manifest.entries(kind, tip.sequence - 1, 1);
          const extent = newest === undefined ? null : await manifest.extent(kind);
          if (newest === undefined || extent === null) return null;
          return {
            line: `${entryLine(newest)}\n`,
            blocks: `${kind}=${extent.firstBlock}-${extent.lastBlock}`,
          };
        }),
      );
      const published = heads.filter((head) => head !== null);
      exchange
        .header('cache-control', 'private, no-cache')
        .header('packhouse-manifest-blocks', published.map(({ blocks }) => blocks).join(', '))
        .sendText(published.map(({ line }) => line).join(''), 'application/x-ndjson');
    },
  });
}
