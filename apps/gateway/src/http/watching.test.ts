import { request } from 'node:http';
import { type Context as OtelContext, type Span, type SpanOptions, trace } from '@opentelemetry/api';
import { type Network, parseNetworks } from '@packhouse/networks';
import { openTracing } from '@packhouse/runtime';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createGateway } from '../create-gateway.js';
import { ask } from '../testing/ask.js';
import { type ScriptedNode, startScriptedNode } from '../testing/scripted-node.js';
import { startTestGateway, type TestGateway } from '../testing/test-gateway.js';

let node: ScriptedNode;
let broken: ScriptedNode;
let at: TestGateway;
let key: string;
let prefix: string;
let networks: Network[];

beforeAll(async () => {
  node = await startScriptedNode();
  broken = await startScriptedNode();
  node.answer(({ method, params }) => {
    if (method === 'eth_blockNumber') return { result: '0x64' };
    if (method === 'eth_getBlockByNumber') {
      const tags: Record<string, string> = { latest: '0x64', finalized: '0x60' };
      return { result: { number: tags[String(params[0])] ?? params[0], hash: '0x1', parentHash: '0x2' } };
    }
    if (method === 'eth_call') return { error: { code: 3, message: 'execution reverted', data: '0x01' } };
    return { result: method };
  });
  broken.answer(() => 'reset');
  networks = parseNetworks(
    `networks:
  - {id: ethereum, family: evm, chainId: 1, upstreams: [{name: good, url: '${node.url}', propagateTrace: true}]}
  - {id: broken, family: evm, chainId: 2, upstreams: [{name: bad, url: '${broken.url}'}, {name: other, url: '${node.url}', priority: 2}]}`,
    { source: 'test', env: {} },
  );
  at = await startTestGateway({ networks });
  // A key that could be the name of a method.
  let made = await at.makeKey();
  while (made.key.includes('-')) made = await at.makeKey();
  key = made.key;
  prefix = made.row.prefix;
});
afterAll(async () => {
  await at?.close();
  await node?.close();
  await broken?.close();
});

const post = (body: unknown, network = 'ethereum', url = at.url, headers: Record<string, string> = {}) =>
  ask(url, `/${network}/v1/${key}`, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  });

/** The request lines logged since a call, once there are this many. */
async function linesAfter(count: number, work: () => Promise<unknown>): Promise<Record<string, unknown>[]> {
  const from = at.log.length;
  await work();
  const lines = () =>
    at.log
      .slice(from)
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ msg }) => msg === 'request');
  await vi.waitFor(() => expect(lines().length).toBeGreaterThanOrEqual(count), { timeout: 60_000 });
  return lines();
}

describe('the log', () => {
  it('has one line a request: what was called, for whom, by which node, how it ended', async () => {
    const address = `0x${'11'.repeat(20)}`;
    const [one] = await linesAfter(1, () => post({ id: 1, method: 'eth_chainId' }));
    expect(one).toMatchObject({
      method: 'POST',
      route: 'rpc',
      network: 'ethereum',
      key: prefix,
      status: 200,
      calls: 1,
      methods: 'eth_chainId',
      upstream: 'good',
      outcome: 'ok',
      requestId: expect.any(String),
      bytes: 47,
      ms: expect.any(Number),
    });
    const [reverted] = await linesAfter(1, () =>
      post({ id: 1, method: 'eth_call', params: [{ to: address }, 'latest'] }),
    );
    expect(reverted).toMatchObject({ methods: 'eth_call', outcome: '3', upstream: 'good', status: 200 });
    const [refused] = await linesAfter(1, () => post('{'));
    expect(refused).toMatchObject({ outcome: 'json-malformed', status: 400, key: prefix });
    const [batch] = await linesAfter(1, () =>
      post([
        { id: 1, method: 'net_version' },
        { id: 2, method: 'eth_made_up' },
        { method: 'eth_chainId' },
        5,
      ]),
    );
    expect(batch).toMatchObject({ calls: 3, methods: 'net_version other eth_chainId', status: 200 });
    expect(String(batch?.outcome).split(' ').sort()).toEqual(['-32600', '-32601']);
  });
});

describe('the metrics', () => {
  it('count calls by network, method, code and key, where answers came from, batches and filters', async () => {
    const number = { method: 'eth_getBlockByNumber', params: ['0x5', false] };
    await vi.waitFor(
      async () => {
        await post({ id: 1, ...number });
        expect((await ask(at.url, '/metrics')).text).toMatch(
          /packhouse_rpc_answers_total\{network="ethereum",source="memory"\} [1-9]/,
        );
      },
      { timeout: 60_000 },
    );
    await post({ id: 1, method: `eth_${'x'.repeat(30)}` });
    await post({ id: 1, method: 'eth_newBlockFilter' });
    await post('[{"id":1,"method":"net_version"},{"id":2,"method":"net_version"}]');
    await post('{"id":1}');
    const text = (await ask(at.url, '/metrics')).text;
    for (const line of [
      /^packhouse_rpc_calls_total\{network="ethereum",method="eth_getBlockByNumber",code="ok"\} \d/m,
      /^packhouse_rpc_calls_total\{network="ethereum",method="eth_call",code="3"\} 1$/m,
      /^packhouse_rpc_calls_total\{network="ethereum",method="other",code="-32601"\} 2$/m,
      /^packhouse_rpc_calls_total\{network="ethereum",method="other",code="-32600"\} 2$/m,
      new RegExp(
        `^packhouse_rpc_key_calls_total\\{network="ethereum",method="eth_call",key="${prefix}"\\} 1$`,
        'm',
      ),
      /^packhouse_rpc_call_seconds_count\{network="ethereum",method="eth_call"\} 1$/m,
      /^packhouse_rpc_call_seconds_bucket\{network="ethereum",method="eth_call",le="\+Inf"\} 1$/m,
      /^packhouse_rpc_batch_calls_count\{network="ethereum"\} 2$/m,
      /^packhouse_rpc_batch_calls_sum\{network="ethereum"\} 6$/m,
      /^packhouse_rpc_answers_total\{network="ethereum",source="nodes"\} \d/m,
      /^packhouse_rpc_answers_total\{network="ethereum",source="own"\} 1$/m,
      /^packhouse_rpc_in_flight\{network="ethereum"\} 0$/m,
      /^packhouse_rpc_filters\{network="ethereum"\} 1$/m,
      /^packhouse_upstream_requests_total\{network="ethereum",upstream="good",method="eth_call",outcome="error"\} 1$/m,
    ]) {
      expect(text).toMatch(line);
    }
    expect(text).not.toContain('xxxx');
  });

  it('count those who joined a call that was under way', async () => {
    let answer = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      answer = resolve;
    });
    node.answer(async ({ method }) => {
      if (method === 'eth_getStorageAt') await held;
      return { result: '0x64' };
    });
    const call = { id: 1, method: 'eth_getStorageAt', params: [`0x${'11'.repeat(20)}`, '0x0', 'latest'] };
    const three = [post(call), post(call), post(call)];
    await vi.waitFor(
      async () =>
        expect((await ask(at.url, '/metrics')).text).toMatch(
          /packhouse_rpc_in_flight\{network="ethereum"\} 3$/m,
        ),
      { timeout: 60_000 },
    );
    // Each asks for the newest block first, in order: when a later one is answered, all three have it.
    await post({ id: 2, method: 'eth_getBalance', params: [`0x${'11'.repeat(20)}`, 'latest'] });
    answer();
    await Promise.all(three);
    expect((await ask(at.url, '/metrics')).text).toMatch(
      /packhouse_rpc_answers_total\{network="ethereum",source="shared"\} 3$/m,
    );
  });
});

it('a client that goes away is counted as such, and its call as under way no longer', async () => {
  node.answer(({ method }) => (method === 'net_version' ? 'hang' : { result: '0x64' }));
  const body = '{"id":1,"method":"net_version"}';
  const { hostname, port } = new URL(at.url);
  const sent = request({
    hostname,
    port,
    path: `/ethereum/v1/${key}`,
    method: 'POST',
    agent: false,
    headers: { 'content-type': 'application/json', 'content-length': body.length },
  });
  sent.on('error', () => undefined);
  const before = node.calls.length;
  sent.end(body);
  await vi.waitFor(
    () => expect(node.calls.slice(before).some((c) => c.method === 'net_version')).toBe(true),
    {
      timeout: 60_000,
    },
  );
  const [line] = await linesAfter(1, async () => sent.destroy());
  expect(line).toMatchObject({
    methods: 'net_version',
    aborted: true,
    outcome: expect.stringMatching(/aborted/),
  });
  await vi.waitFor(
    async () => {
      const { text } = await ask(at.url, '/metrics');
      expect(/packhouse_rpc_in_flight\{network="ethereum"\} (\d+)/.exec(text)?.[1]).toBe('0');
      expect(text).toContain('method="net_version",code="aborted"} 1');
    },
    { timeout: 60_000 },
  );
});

describe('keys', () => {
  it('stand nowhere but where their holder wrote them (invariant 8)', async () => {
    const secret = key.slice(12);
    const encoded = [...key].map((c) => `%${c.charCodeAt(0).toString(16)}`).join('');
    const half = key.replace('ph_', 'ph%5f');
    const body = { id: key, method: key, params: [key, { [key]: key }] };
    const headers = {
      referer: `https://example.com/?key=${key}`,
      origin: `https://${key}.example.com`,
      authorization: `Bearer ${key}`,
      'user-agent': key,
      'x-request-id': key,
      'x-forwarded-for': key,
      traceparent: key,
      cookie: `key=${key}`,
    };
    const answers = [
      await post(body, 'ethereum', at.url, headers),
      await post([body, key, 5], 'ethereum', at.url, headers),
      await post(`{"id":1,"method":"${key}`, 'ethereum', at.url, headers),
      await post({ id: 1, method: 'eth_call', params: [key, key] }, 'broken', at.url, headers),
      await post({ id: 1, method: 'eth_chainId' }, key, at.url, headers),
    ];
    for (const path of [
      `/ethereum/v1/${encoded}`,
      `/ethereum/v1/${half}/bundle-api/blocks/5`,
      `/ethereum/v1/${key}/bundle-api/${key}/${key}`,
      `/ethereum/v1/${key}/bundle-api/coverage?kind=${key}&cursor=${key}`,
      `/ethereum/v1/${key}/${key}`,
      `/${key}`,
      `/nowhere/v1/${key}`,
      `/ethereum/files/${key}/${key}.json.gz`,
      `/?${key}`,
      `/ethereum/v1/%zz${key}`,
      `//${key}/..%2f${key}`,
    ]) {
      for (const method of ['GET', 'POST', 'OPTIONS', 'PURGE']) {
        answers.push(await ask(at.url, path, { method, headers }));
      }
    }
    const metrics = (await ask(at.url, '/metrics')).text;
    const logged = at.log.join('');
    expect(logged).toContain(prefix);
    for (const form of [
      secret,
      encoded.slice(36),
      encodeURIComponent(secret),
      Buffer.from(key).toString('base64'),
    ]) {
      expect(logged).not.toContain(form);
      expect(metrics).not.toContain(form);
    }
    // The id is sent back unchanged, only to the client that sent it.
    for (const { text } of answers) expect(text.replaceAll(`"id":"${key}"`, '')).not.toContain(secret);
    for (const { headers: sent } of answers) expect(JSON.stringify(sent)).not.toContain(secret);
    for (const { body: asked } of [...node.calls, ...broken.calls])
      expect(asked.includes(secret)).toBe(false);
  });
});

describe('traces', () => {
  interface Seen {
    name: string;
    id: string;
    parent: string | undefined;
    attributes: Record<string, unknown>;
    failed: boolean;
    ended: boolean;
  }

  /** The minimum that OpenTelemetry accepts as an SDK. */
  function registerProvider(): Seen[] {
    const seen: Seen[] = [];
    const startSpan = (name: string, options: SpanOptions, parent: OtelContext): Span => {
      const above = trace.getSpanContext(parent);
      const one: Seen = {
        name,
        id: String(seen.length + 1).padStart(16, 'b'),
        parent: above?.spanId,
        attributes: { ...options.attributes },
        failed: false,
        ended: false,
      };
      seen.push(one);
      const span = {
        spanContext: () => ({ traceId: above?.traceId ?? 'a'.repeat(32), spanId: one.id, traceFlags: 1 }),
        setAttributes: (attributes: Record<string, unknown>) => Object.assign(one.attributes, attributes),
        setStatus: () => {
          one.failed = true;
        },
        end: () => {
          one.ended = true;
        },
      };
      return span as unknown as Span;
    };
    trace.setGlobalTracerProvider({
      getTracer: () => ({ startSpan, startActiveSpan: () => undefined as never }),
    });
    return seen;
  }

  it('go from the request to the method to each try of a node, without keys, and on where the file says so', async () => {
    const seen = registerProvider();
    const tracing = await openTracing();
    expect(tracing).toBeDefined();
    const heads: (string | undefined)[] = [];
    const { database, objectStore } = at;
    const context = { ...at.context, ...(tracing === undefined ? {} : { tracing }) };
    node.answer(({ headers, method }) => {
      if (method === 'net_version') heads.push(headers.traceparent as string | undefined);
      return { result: method === 'eth_chainId' ? null : '0x1' };
    });
    // It fails at the call alone: a node that also fails when it is asked for its head may be rested by then.
    broken.answer(({ method }) =>
      method === 'net_version' ? 'reset' : { result: method === 'eth_chainId' ? null : '0x1' },
    );
    const gateway = await createGateway({ context, database, objectStore, networks });
    try {
      const url = `http://127.0.0.1:${await gateway.listen(0, '127.0.0.1')}`;
      const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
      const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;
      await post({ id: 1, method: 'net_version' }, 'ethereum', url, { traceparent });
      await vi.waitFor(() => expect(seen.filter(({ ended }) => ended)).toHaveLength(3), { timeout: 60_000 });
      expect(seen).toMatchObject([
        {
          name: 'POST',
          parent: '00f067aa0ba902b7',
          attributes: {
            'http.request.method': 'POST',
            'http.response.status_code': 200,
            'packhouse.route': 'rpc',
            'packhouse.network': 'ethereum',
            'packhouse.key': prefix,
          },
        },
        { name: 'net_version', parent: seen[0]?.id, attributes: { 'rpc.method': 'net_version' } },
        { name: 'net_version', parent: seen[1]?.id, attributes: { 'packhouse.upstream': 'good' } },
      ]);
      expect(heads).toEqual([`00-${traceId}-${seen[2]?.id}-01`]);

      seen.length = 0;
      await post({ id: 1, method: 'net_version' }, 'broken', url, { traceparent });
      await vi.waitFor(() => expect(seen.filter(({ ended }) => ended)).toHaveLength(4), { timeout: 60_000 });
      const tries = seen.filter(({ attributes }) => 'packhouse.upstream' in attributes);
      expect(tries.map(({ attributes, failed }) => [attributes['packhouse.upstream'], failed])).toEqual([
        ['bad', true],
        ['other', false],
      ]);
      // No `traceparent` is sent unless the networks file says so.
      expect(heads[1]).toBeUndefined();
      expect(JSON.stringify(seen)).not.toContain(key.slice(12));
    } finally {
      trace.disable();
      await gateway.close();
    }
  });
});
