import type { KeyRow } from '@packhouse/database';
import { bearerKey } from '../../access/admission.js';
import { type Exchange, JSON_TYPE } from '../../http/exchange.js';
import { Problem, type ProblemReason, toProblem } from '../../http/problem.js';
import type { Route } from '../../http/route.js';
import type { ToldAddress } from '../../http/told-address.js';
import type { ServedNetwork } from '../../networks/served-network.js';
import type { GatewayParts } from '../common/gateway-parts.js';
import { ICEBERG, refuseCatalog } from './refuse.js';

/** What the catalog can, in the words of the specification. */
const ENDPOINTS = [
  'GET /v1/{prefix}/namespaces',
  'GET /v1/{prefix}/namespaces/{namespace}',
  'HEAD /v1/{prefix}/namespaces/{namespace}',
  'GET /v1/{prefix}/namespaces/{namespace}/tables',
  'GET /v1/{prefix}/namespaces/{namespace}/tables/{table}',
  'HEAD /v1/{prefix}/namespaces/{namespace}/tables/{table}',
];

/**
 * The read-only part of the Iceberg REST catalog: a namespace for each network, in it a table for each kind of data. Any
 * other method of an address is refused by the table of routes.
 */
export function catalogRoutes(
  parts: GatewayParts,
  networks: readonly ServedNetwork[],
  told: Pick<ToldAddress, 'origin'>,
): Route[] {
  const { catalog } = parts;
  const withBundles = networks.filter(({ network }) => network.bundles.enabled);
  const route = (
    path: string,
    network: string | undefined,
    answer: (exchange: Exchange, key: KeyRow, secret: string) => Promise<unknown>,
    tellsAddress = false,
  ): Route => ({
    method: 'GET',
    path: `${ICEBERG}/v1${path}`,
    name: 'lake',
    tellsAddress,
    ...(network === undefined ? {} : { network }),
    refuse: (exchange, error) =>
      refuseCatalog({ admission: parts.admission, logger: parts.context.logger }, exchange, error),
    async answer(exchange) {
      const secret = bearerKey(exchange.request.headers.authorization);
      const key = await parts.admission.admitReader(secret, exchange);
      exchange.header('cache-control', 'no-store');
      await answer(exchange, key, secret as string);
    },
  });
  const sees = (key: KeyRow, id: string): boolean => key.network === null || key.network === id;
  return [
    tokenRoute(parts),
    route('/config', undefined, async (exchange) => {
      exchange.sendJson({ defaults: {}, overrides: {}, endpoints: ENDPOINTS });
    }),
    route('/namespaces', undefined, async (exchange, key) => {
      // Namespaces have none within.
      const isTop = exchange.query.parent === undefined || exchange.query.parent === '';
      const seen = withBundles.filter(({ network: { id } }) => isTop && sees(key, id));
      const filled: string[][] = [];
      for (const { network } of seen)
        if ((await catalog.tables(network.id)).length > 0) filled.push([network.id]);
      exchange.sendJson({ namespaces: filled });
    }),
    ...withBundles.flatMap(({ network: { id } }) => [
      route(`/namespaces/${id}`, id, async (exchange) => {
        if (exchange.request.method === 'HEAD') exchange.status(204).sendNothing();
        else exchange.sendJson({ namespace: [id], properties: {} });
      }),
      route(`/namespaces/${id}/tables`, id, async (exchange) => {
        const tables = await catalog.tables(id);
        exchange.sendJson({ identifiers: tables.map(({ kind }) => ({ namespace: [id], name: kind })) });
      }),
      route(
        `/namespaces/${id}/tables/:table`,
        id,
        async (exchange, key, secret) => {
          const table = await catalog.table(id, exchange.param('table'));
          exchange.kind = table.kind;
          if (exchange.request.method === 'HEAD') {
            exchange.status(204).sendNothing();
            return;
          }
          const request = { network: id, table, maxBlock: key.plan.maxBlock };
          const { location, metadata } = await catalog.metadata.load(request);
          exchange.sendJson({
            'metadata-location': location,
            metadata,
            config: fileAccess(told.origin, key, secret),
          });
        },
        true,
      ),
    ]),
  ];
}

/**
 * How engines read the files of a table (specification, "LoadTableResult"): from this server, by the protocol of S3. The API key
 * is the session token, which they send with each request as it is; so their signatures need not be checked.
 */
function fileAccess(endpoint: string, { prefix }: KeyRow, secret: string): Record<string, string> {
  return {
    's3.endpoint': `${endpoint}/`,
    's3.path-style-access': 'true',
    's3.region': REGION,
    'client.region': REGION,
    's3.access-key-id': prefix,
    's3.secret-access-key': 'unused',
    's3.session-token': secret,
  };
}

/** Signatures need one; this server is in none. */
const REGION = 'us-east-1';

/** Most bytes of a form: a key, a name, a scope. */
const MAX_FORM = 4_096;

/** Names of errors in OAuth 2.0 (RFC 6749, 5.2). */
const ERRORS: Partial<Record<ProblemReason, string>> = {
  unauthenticated: 'invalid_client',
  forbidden: 'invalid_client',
  'parameter-invalid': 'unsupported_grant_type',
};

/**
 * `POST /iceberg/v1/oauth/tokens`: for engines that send a credential to get a token (RFC 6749, 4.4). The token is the API key
 * itself: a short one would live on after the key was revoked, and would have to be renewed in the middle of a query.
 */
function tokenRoute({ admission }: GatewayParts): Route {
  return {
    method: 'POST',
    path: `${ICEBERG}/v1/oauth/tokens`,
    name: 'lake',
    bodyLimit: MAX_FORM,
    bodyType: 'application/x-www-form-urlencoded',
    async answer(exchange) {
      const form = new URLSearchParams(exchange.body?.toString() ?? '');
      if (form.get('grant_type') !== 'client_credentials') {
        throw new Problem('parameter-invalid', {
          detail: 'Send grant_type=client_credentials, and the API key as client_secret.',
        });
      }
      const key = form.get('client_secret') ?? basicPassword(exchange.request.headers.authorization);
      await admission.admitReader(key, exchange);
      exchange.header('cache-control', 'no-store');
      exchange.sendJson({ access_token: key, token_type: 'bearer', scope: form.get('scope') ?? 'catalog' });
    },
    refuse(exchange, error) {
      const problem = toProblem(error);
      const { reason, status, message } = problem;
      exchange.refusal = reason;
      for (const [name, value] of Object.entries(problem.headers)) exchange.header(name, value);
      const body = { error: ERRORS[reason] ?? 'invalid_request', error_description: message };
      exchange.status(status).header('cache-control', 'no-store').sendText(JSON.stringify(body), JSON_TYPE);
    },
  };
}

/** The password of Basic authentication, which clients may use instead of the form (RFC 6749, 2.3.1); absent: none. */
function basicPassword(header: string | undefined): string | undefined {
  const [, encoded] = /^Basic +(\S+) *$/i.exec(header ?? '') ?? [];
  const text = Buffer.from(encoded ?? '', 'base64').toString();
  return text.includes(':') ? text.slice(text.indexOf(':') + 1) : undefined;
}
