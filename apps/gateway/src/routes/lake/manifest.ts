import { isTable, TABLES } from '@packhouse/chain';
import { lakeEntryLine } from '@packhouse/manifest';
import { Problem } from '../../http/problem.js';
import type { Route } from '../../http/route.js';
import type { ServedNetwork } from '../../networks/served-network.js';
import type { GatewayParts } from '../common/gateway-parts.js';
import { keyedRoute, queryInvalid, readParameters, requireBundles } from '../common/keyed-route.js';
import { COMMON_REFUSALS, integer, keyParams, object, refusals, text } from '../common/schemas.js';

/** Entries in one answer, about 700 bytes each. */
const PAGE = 1_000;

const schema = {
  summary: 'Get the signed log of the data files of a table of the lake',
  description: `JSON lines, one entry per file that a snapshot adds or removes, in order; at most ${PAGE}. Every plan includes all entries. The header packhouse-manifest-next is the sequence number to continue after; a Link header with rel=next is present if there are more entries.`,
  tags: ['bundles'],
  operationId: 'getLakeManifest',
  params: keyParams,
  querystring: object(
    { table: text('Name of the table.', { enum: TABLES }) },
    { optional: { after: integer('Entries after this sequence number; default: from the first.') } },
  ),
  response: {
    200: {
      description: 'The entries; empty if no file was written since.',
      content: { 'application/x-ndjson': { schema: text() } },
    },
    ...refusals(...COMMON_REFUSALS, 'query-invalid', 'cursor-invalid'),
  },
};

/** `GET {base_url}<KEY>/bundle-api/lake-manifest?table=&after=` of one network. */
export function lakeManifestRoute(parts: GatewayParts, served: ServedNetwork): Route {
  const { network } = served;
  const { lakeLog } = parts.database.network(network.id);
  return keyedRoute(served, '/bundle-api/lake-manifest', {
    name: 'lake-manifest',
    schema,
    async answer(exchange) {
      await parts.admission.admit(exchange.param('key'), exchange);
      const { table, after: given } = readParameters(exchange.query, ['table', 'after']);
      if (table === undefined) throw queryInvalid('table', 'is required');
      requireBundles(network);
      if (!isTable(table)) {
        throw new Problem('kind-unknown', {
          detail: `Unknown table; expected one of ${TABLES.join(', ')}.`,
          members: { kinds: TABLES },
        });
      }
      const after = given === undefined ? -1 : toSequence(given);
      const [tip, entries] = [await lakeLog.tip(table), await lakeLog.entries(table, after, PAGE)];
      const newest = Math.max(tip?.sequence ?? -1, entries.at(-1)?.sequence ?? -1);
      if (after > newest) {
        throw new Problem('cursor-invalid', {
          detail: `The log of the table ${table} of ${network.id} has ${newest + 1} entries; entries after ${after} were requested.`,
          members: { newest, requested: after },
        });
      }
      const last = entries.at(-1)?.sequence ?? after;
      exchange
        .header('cache-control', 'private, no-cache')
        .header('packhouse-manifest-next', last)
        .header('packhouse-manifest-entries', newest + 1);
      if (last < newest) exchange.header('link', `<lake-manifest?table=${table}&after=${last}>; rel="next"`);
      exchange.sendText(entries.map((entry) => `${lakeEntryLine(entry)}\n`).join(''), 'application/x-ndjson');
    },
  });
}

function toSequence(text: string): number {
  if (/^(-1|\d{1,10})$/.test(text)) return Number(text);
  throw queryInvalid('after', 'must be the sequence number of an entry');
}
