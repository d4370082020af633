import { JSON_TYPE } from '../http/exchange.js';
import type { Route } from '../http/route.js';
import { areBelowServer, type ServedNetwork } from '../networks/served-network.js';
import { type object, partial, text } from './common/schemas.js';
import type { ListedMethod } from './method-list.js';

const HEAD = {
  openapi: '3.1.0',
  info: {
    title: 'Packhouse gateway',
    description: 'Verified blockchain history in bulk: pointers to files, and the files.',
    version: '1',
  },
  components: { securitySchemes: { apiKey: { type: 'http', scheme: 'bearer' } }, schemas: {} },
};

const schema = {
  summary: 'This document',
  tags: ['operation'],
  response: { 200: { description: 'OpenAPI 3.1.', type: 'object', additionalProperties: true } },
} as const;

/**
 * `GET /openapi.json`: the OpenAPI 3.1 document of these routes and of itself, with the public addresses of the
 * networks, and their JSON-RPC methods in `x-json-rpc-methods`.
 */
export function openapiRoute(
  routes: readonly Route[],
  networks: readonly ServedNetwork[],
  methods: readonly { network: string; methods: ListedMethod[] }[],
): Route {
  let document: string | undefined;
  const route: Route = {
    method: 'GET',
    path: '/openapi.json',
    name: 'openapi',
    schema,
    tellsAddress: areBelowServer(networks),
    answer(exchange) {
      // The addresses are only known once the server listens.
      document ??= JSON.stringify({
        ...openapiDocument([route, ...routes], networks),
        'x-json-rpc-methods': methods,
      });
      exchange.sendText(document, JSON_TYPE);
    },
  };
  return route;
}

/** The documentation of a route: JSON Schemas by the part of the request, and answers by status. */
interface RouteSchema {
  summary?: string;
  description?: string;
  operationId?: string;
  tags?: readonly string[];
  security?: readonly object[];
  params?: ObjectSchema;
  querystring?: ObjectSchema;
  headers?: ObjectSchema;
  body?: { description?: string };
  response?: Readonly<Record<string, ResponseSchema>>;
}

type ObjectSchema = Pick<ReturnType<typeof object>, 'properties'> & { required?: readonly string[] };

interface ResponseSchema {
  description: string;
  /** `null`: the answer has no body. */
  type?: unknown;
  content?: object;
}

function openapiDocument(routes: readonly Route[], networks: readonly ServedNetwork[]): object {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    const { document, method } = route;
    const path = document?.path ?? route.path;
    const item = paths[path] ?? {};
    paths[path] = item;
    item[method.toLowerCase()] ??= getOperation(path, route.schema ?? {});
    if (document === undefined) continue;
    item.servers = networks.map((served) => ({
      url: served[document.servedAt].replace(/\/$/, ''),
      description: served.network.id,
    }));
  }
  return { ...HEAD, paths };
}

function getOperation(path: string, schema: RouteSchema): object {
  const { summary, description, operationId, tags, security, body, response } = schema;
  const parameters = [
    ...toParameters('query', schema.querystring),
    ...toParameters('path', schema.params ?? paramsIn(path)),
    ...toParameters('header', schema.headers),
  ];
  return {
    operationId,
    summary,
    tags,
    description,
    requestBody: body && {
      required: true,
      content: { 'application/json': { schema: body } },
      description: body.description,
    },
    parameters: parameters.length === 0 ? undefined : parameters,
    security,
    responses: response === undefined ? { 200: { description: 'Default Response' } } : getResponses(response),
  };
}

function paramsIn(path: string): ObjectSchema {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
  return partial(Object.fromEntries(names.map((name) => [name, text()])));
}

function toParameters(place: 'query' | 'path' | 'header', schema: ObjectSchema | undefined): object[] {
  return Object.entries(schema?.properties ?? {}).map(([name, { description, ...type }]) => ({
    schema: type,
    in: place,
    name,
    required: place === 'path' || schema?.required?.includes(name) === true,
    description,
  }));
}

function getResponses(responses: Readonly<Record<string, ResponseSchema>>): object {
  return Object.fromEntries(
    Object.entries(responses).map(([status, response]) => {
      const { description, type, content } = response;
      if (content !== undefined) return [status, { description, content }];
      if (type === 'null') return [status, { description }];
      return [status, { description, content: { 'application/json': { schema: response } } }];
    }),
  );
}
