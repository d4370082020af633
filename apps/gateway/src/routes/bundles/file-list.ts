import { createHash } from 'node:crypto';
import type { PublishedFile } from '@packhouse/database';
import { REQUESTS_AT_ONCE } from '@packhouse/runtime';
import { createInFlight } from '../../access/in-flight.js';
import { JSON_TYPE } from '../../http/exchange.js';
import { sentNotModified } from '../../http/file-headers.js';
import type { Route } from '../../http/route.js';
import { isBelowServer, type ServedNetwork } from '../../networks/served-network.js';
import type { GatewayParts } from '../common/gateway-parts.js';
import { keyedRoute } from '../common/keyed-route.js';
import {
  block,
  COMMON_REFUSALS,
  described,
  integer,
  keyParams,
  list,
  nullable,
  object,
  refusals,
  text,
} from '../common/schemas.js';
import { rangeParameters, readFilesQuery } from './range-query.js';

/** Files on a page: by default, and at most. A file has about 200 bytes. */
const LIMITS = { usual: 1_000, most: 10_000 };

const file = object({
  from: block('First block.'),
  to: block('Last block.'),
  bytes: integer('Size of the file.'),
  sha256: text('SHA-256 of the file in hex; its ETag.'),
  version: integer('1, or higher if the file was repaired.'),
  link: text('Address of the file; GET it with Authorization: Bearer <API key>.'),
});

const limited = described('Present only if the plan ends before the range.', {
  maxBlock: block('Highest block that the plan includes.'),
});

const schema = {
  summary: 'List the published files of a block range',
  description:
    'In ascending order; a file that overlaps the range is listed whole. Blocks between files are not published; coverage has the reason. Staged blocks, and files that extend beyond the plan, are not listed; use their pointers.',
  tags: ['bundles'],
  operationId: 'listFiles',
  params: keyParams,
  querystring: rangeParameters(LIMITS, 'The `next` of the previous page.'),
  response: {
    200: described(
      'A page. Its ETag changes only if one of its files or its end changes.',
      { files: list(file), next: nullable(text('The cursor of the next page; null: this is the last.')) },
      { optional: { limited } },
    ),
    304: { description: 'The client has this page.', type: 'null' },
    ...refusals(...COMMON_REFUSALS, 'block-number-invalid', 'query-invalid'),
  },
};

/** `GET {base_url}<KEY>/bundle-api/files?kind=&from=&to=&cursor=&limit=` of one network. */
export function fileListRoute(parts: GatewayParts, served: ServedNetwork): Route {
  const { network } = served;
  const { bundles } = parts.database.network(network.id);
  const enter = createInFlight('lists of files');
  return keyedRoute(served, '/bundle-api/files', {
    name: 'files',
    schema,
    tellsAddress: isBelowServer(served, 'downloadUrl'),
    async answer(exchange) {
      const key = await parts.admission.admit(exchange.param('key'), exchange);
      const { kind, last, limit, range } = readFilesQuery(exchange, network, key.plan, LIMITS);
      const leave = enter(key.id, REQUESTS_AT_ONCE.files);
      // One more than the page has, which shows whether there is a next one.
      const found = await bundles.files(kind, range, limit + 1).finally(leave);
      // A download of a file that reaches beyond the plan is refused.
      const allowed = found.filter(({ lastBlock }) => lastBlock <= (key.plan.maxBlock ?? lastBlock));
      const body = JSON.stringify({
        files: allowed.slice(0, limit).map((file) => listed(file, `${served.downloadUrl}/${kind}`)),
        next: allowed[limit]?.firstBlock.toString() ?? null,
        ...(range.lastBlock < last ? { limited: { maxBlock: range.lastBlock } } : {}),
      });

      const hash = createHash('sha256').update(body).digest('hex').slice(0, 32);
      exchange.header('cache-control', 'private, no-cache');
      if (!sentNotModified(exchange, hash, Buffer.byteLength(body))) exchange.sendText(body, JSON_TYPE);
    },
  });
}

function listed(
  { firstBlock, lastBlock, byteLength, sha256, version }: PublishedFile,
  folder: string,
): object {
  return {
    from: firstBlock,
    to: lastBlock,
    bytes: byteLength,
    sha256,
    version,
    link: `${folder}/${firstBlock}-${lastBlock}.json.gz`,
  };
}
