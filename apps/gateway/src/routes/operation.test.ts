import { KINDS } from '@packhouse/chain';
import { createDatabase, type Database } from '@packhouse/database';
import { PackhouseError } from '@packhouse/runtime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../testing/ask.js';
import { startTestGateway, type TestGateway } from '../testing/test-gateway.js';

describe('the routes of operation', () => {
  let at: TestGateway;
  beforeAll(async () => {
    at = await startTestGateway();
  });
  afterAll(() => at.close());

  it('GET / names the networks and their addresses, and nothing of their nodes', async () => {
    const answer = await ask(at.url, '/');
    expect(answer.json()).toEqual({
      name: 'packhouse',
      openapi: '/openapi.json',
      networks: [
        {
          id: 'ethereum',
          chain_id: 1,
          base_url: `${at.url}/ethereum/v1/`,
          download_url: `${at.url}/ethereum/files`,
          kinds: [...KINDS],
        },
        expect.objectContaining({ id: 'quiet', kinds: [] }),
        expect.objectContaining({ id: 'logsonly', kinds: ['logs'] }),
        expect.objectContaining({
          base_url: 'https://hosted.example.com/v1/',
          download_url: 'https://files.example.com',
        }),
      ],
    });
    expect(answer.text).not.toContain('127.0.0.1:1"');
  });

  it('GET /healthz answers as long as the process lives', async () => {
    expect((await ask(at.url, '/healthz')).json()).toEqual({ status: 'ok' });
  });

  it('GET /openapi.json describes every route with every answer, at the addresses of the networks', async () => {
    interface Operation {
      parameters?: { name: string; in: string }[];
      responses: Record<string, { content?: Record<string, { schema: Record<string, unknown> }> }>;
    }
    const document = (await ask(at.url, '/openapi.json')).json() as {
      openapi: string;
      paths: Record<string, { get: Operation; servers?: { url: string }[] }>;
    };
    expect(document.openapi).toBe('3.1.0');
    expect(Object.keys(document.paths).sort()).toEqual([
      '/',
      '/.well-known/packhouse-manifest-keys.json',
      '/healthz',
      '/metrics',
      '/openapi.json',
      '/readyz',
      '/{key}',
      '/{key}/bundle-api/coverage',
      '/{key}/bundle-api/feed',
      '/{key}/bundle-api/files',
      '/{key}/bundle-api/filters',
      '/{key}/bundle-api/lake-manifest',
      '/{key}/bundle-api/manifest',
      '/{key}/bundle-api/manifest/head',
      '/{key}/bundle-api/{kind}/{block_number}',
      '/{key}/nft-api/refresh',
      '/{key}/nft-api/refresh/{job_id}',
      '/{key}/usage',
      '/{kind}/{start_number}-{end_number}.json.gz',
    ]);
    const pointer = document.paths['/{key}/bundle-api/{kind}/{block_number}'];
    expect(pointer?.servers?.map((server) => server.url)).toContain(`${at.url}/ethereum/v1`);
    expect(pointer?.get.parameters?.map((parameter) => parameter.name)).toEqual([
      'key',
      'kind',
      'block_number',
    ]);
    expect(pointer?.get.responses['200']?.content?.['application/json']?.schema).toMatchObject({
      required: ['type', 'range', 'download_link'],
      additionalProperties: false,
    });
    expect(Object.keys(pointer?.get.responses ?? {})).toEqual(
      expect.arrayContaining(['200', '400', '401', '403', '404', '405', '429', '500', '503']),
    );
    const download = document.paths['/{kind}/{start_number}-{end_number}.json.gz'];
    expect(Object.keys(download?.get.responses ?? {})).toEqual(
      expect.arrayContaining(['200', '206', '304', '404', '410', '416', '429']),
    );
    expect(download?.get.responses['200']?.content).toHaveProperty(['application/gzip']);
    expect(download?.get.responses['410']?.content).toHaveProperty(['application/problem+json']);
  });

  it('GET /readyz says what is not ready', async () => {
    expect((await ask(at.url, '/readyz')).json()).toEqual({
      status: 'ready',
      database: true,
      objectStore: true,
      rangeIndex: true,
      draining: false,
      problems: [],
      networksFile: true,
    });
    const { read } = at.objectStore;
    at.objectStore.read = () =>
      Promise.reject(
        new PackhouseError({
          code: 'OBJECT_STORE_INVALID',
          message: 'x could not be read from s3://private at 10.0.0.1: SignatureDoesNotMatch.',
          hint: 'Correct AWS_SECRET_ACCESS_KEY.',
          data: { name: 'SignatureDoesNotMatch' },
        }),
      );
    at.time.offset += 1_000;
    const answer = await ask(at.url, '/readyz');
    at.objectStore.read = read;
    at.time.offset += 1_000;
    expect(answer.status).toBe(503);
    expect(answer.json()).toMatchObject({
      status: 'not ready',
      database: true,
      objectStore: false,
      problems: [
        'the object store: SignatureDoesNotMatch. Correct AWS_SECRET_ACCESS_KEY. [OBJECT_STORE_INVALID]',
      ],
    });
    expect(answer.text).not.toMatch(/private|10\.0\.0\.1/);
    expect((await ask(at.url, '/readyz')).status).toBe(200);
  });
});

it('GET /readyz says no until the range index is loaded, and requests are answered meanwhile', async () => {
  let release = (): void => undefined;
  const loaded = new Promise<void>((resolve) => {
    release = resolve;
  });
  let database: Database | undefined;
  const at = await startTestGateway({ warmLimitMs: 600_000 }, async (url, context) => {
    const real = createDatabase({ connectionString: url, context, applicationName: 'gateway that loads' });
    database = real;
    return {
      ...real,
      network: (id) => ({
        ...real.network(id),
        coverage: async (...asked) => {
          await loaded;
          return real.network(id).coverage(...asked);
        },
      }),
    };
  });
  try {
    const before = await ask(at.url, '/readyz');
    expect(before.status).toBe(503);
    expect(before.json()).toMatchObject({ status: 'not ready', database: true, rangeIndex: false });
    expect((await ask(at.url, '/')).status).toBe(200);
    release();
    await at.gateway.warmed;
    const after = await ask(at.url, '/readyz');
    expect(after.status).toBe(200);
    expect(after.json()).toMatchObject({ rangeIndex: true });
  } finally {
    release();
    await at.close();
    await database?.close();
  }
});
