import { Agent } from 'node:http';
import { connect } from 'node:net';
import { parseNetworks } from '@packhouse/networks';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ask } from '../testing/ask.js';
import { type ScriptedNode, startScriptedNode } from '../testing/scripted-node.js';
import { startTestGateway, type TestGateway } from '../testing/test-gateway.js';

const HASH = `0x${'1'.repeat(64)}`;
const ADDRESS = `0x${'ab'.repeat(20)}`;
const JSON_TYPE = { 'content-type': 'application/json' };

let node: ScriptedNode;
let at: TestGateway;
let key: string;
/** The owner of a filter that nobody else may see. */
let victim: { key: string; id: string };

beforeAll(async () => {
  node = await startScriptedNode();
  node.answer(({ method }) => {
    if (method === 'eth_getBlockByNumber') return { result: { number: '0x5', hash: HASH, parentHash: HASH } };
    return { result: method === 'eth_getLogs' ? [] : '0x1' };
  });
  const upstreams = `upstreams: [{url: '${node.url}'}]`;
  const networks = parseNetworks(
    `networks:
  - {id: main, family: evm, chainId: 1, ${upstreams}}
  - {id: core, family: core, chainId: 1029, ${upstreams}}
  - {id: cell, family: cell, ${upstreams}}
  - {id: names, family: registry, ${upstreams}}`,
    { source: 'test', env: {} },
  );
  at = await startTestGateway({ networks, openRate: 1_000_000 });
  key = (await at.makeKey()).key;
  const { key: theirs } = await at.makeKey();
  const made = await post(`/main/v1/${theirs}`, callText('eth_newBlockFilter', []));
  victim = { key: theirs, id: made.json().result as string };
});
afterAll(async () => {
  await at?.close();
  await node?.close();
});
beforeEach(() => {
  node.calls.length = 0;
});

const callText = (method: string, params: unknown[], id: unknown = 1): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params });
const post = (path: string, body: string, headers: Record<string, string> = {}) =>
  ask(at.url, path, { method: 'POST', body, headers: { ...JSON_TYPE, ...headers } });

/** Sends bytes on a bare connection; returns all bytes received until it is closed. */
function sendRaw(bytes: string): Promise<string> {
  const { hostname, port } = new URL(at.url);
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    socket.on('data', (chunk) => {
      text += chunk.toString();
    });
    socket.on('close', () => resolve(text));
    socket.on('error', reject);
  });
}

it('a head or a body that drips in is cut, and its connection closed', async () => {
  const server = at.gateway.server;
  const { headersTimeout, requestTimeout } = server;
  // Node lets the longer of the two go on.
  Object.assign(server, { headersTimeout: 400, requestTimeout: 500 });
  try {
    const head = `POST /main/v1/${key} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n`;
    const both = await Promise.all([
      sendRaw(`${head}content-length: 100\r\n\r\n{"jsonrpc":`),
      sendRaw(`${head}content-le`),
    ]);
    for (const text of both) {
      expect(text).toMatch(/^HTTP\/1.1 408 /);
      expect(text).toContain('"reason":"request-timeout"');
      expect(text).not.toContain(key);
    }
  } finally {
    Object.assign(server, { headersTimeout, requestTimeout });
  }
});

it('a body that is announced as too large is not read, and its connection closed', async () => {
  const head = `POST /main/v1/${key} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n`;
  const announced = await sendRaw(`${head}content-length: 1048577\r\n\r\n`);
  expect(announced).toMatch(/^HTTP\/1.1 413 .*connection: close.*"code":-32005/is);
  const chunk = `100000\r\n${'x'.repeat(0x100000)}\r\n`;
  const unannounced = await sendRaw(`${head}transfer-encoding: chunked\r\n\r\n${chunk.repeat(2)}`).catch(
    // It may be closed while it is still being written to.
    (error: NodeJS.ErrnoException) => error.code,
  );
  expect(unannounced).toMatch(/^HTTP\/1.1 413 |ECONNRESET|EPIPE/s);
});

it.each([
  `/main/v1/%2e%2e%2f${'x'.repeat(10)}`,
  '/main/v1/..%2f..%2fetc%2fpasswd',
  '/main//v1/KEY',
  '//main/v1/KEY',
  '/main/v1//KEY',
  '/main/v1/KEY/',
  '/main/v1/KEY/../KEY',
  '/main/../main/v1/KEY',
  '/main/v1/KEY%00',
  '/main/v1/KEY%0d%0aset-cookie:%20a=b',
  '/main/v1/%',
  '/main/v1/%zz',
  '/main/v1/%c0%af',
  '/MAIN/v1/KEY',
  '/main%2fv1%2fKEY',
  '/main/v1/KEY%2fbundle-api',
  `/main/v1/${'x'.repeat(3_000)}`,
  '/main/v1/__proto__',
])('the address %s gets nothing but a refusal', async (path) => {
  const answer = await post(path.replaceAll('KEY', key), callText('eth_chainId', []));
  expect(answer.status).toBeGreaterThanOrEqual(400);
  expect(answer.status).toBeLessThan(500);
  expect(answer.headers['set-cookie']).toBeUndefined();
  expect(answer.text).not.toContain(key);
  expect(answer.headers['content-type']).toMatch(/json/);
});

it('a key leaks nowhere: log, metrics, answers, the node', async () => {
  const before = at.log.length;
  const secret = key.slice('ph_12345678_'.length);
  const carried = {
    'x-request-id': key,
    referer: `http://a/${key}`,
    'user-agent': key,
    cookie: key,
    authorization: `Bearer ${key}`,
    traceparent: key,
  };
  const bodies = [
    callText('eth_chainId', []),
    callText('eth_getTransactionByHash', [key]),
    callText('eth_getTransactionByHash', [HASH], key),
    callText(key, []),
    callText('eth_getLogs', [{ address: key, fromBlock: key, topics: [key] }]),
    callText('eth_call', [{ to: key, [key]: key }]),
    callText('eth_getFilterChanges', [key]),
    `[${callText(key, [], 1)},${callText('eth_chainId', [])},"${key}"]`,
    `{"method":"${key}`,
    key,
  ];
  let told = '';
  for (const body of bodies) {
    for (const path of [
      `/main/v1/${key}`,
      `/main/v1/${key}x`,
      `/nowhere/v1/${key}`,
      `/main/v1/${key}?k=${key}`,
    ]) {
      const answer = await post(path, body, carried);
      told += `${JSON.stringify(answer.headers)}${answer.text.replaceAll(`"id":"${key}"`, '')}`;
    }
  }
  node.answer(() => 'reset');
  told += (await post(`/main/v1/${key}`, callText('eth_getTransactionReceipt', [HASH]), carried)).text;
  node.answer(({ method }) => ({
    result: method === 'eth_getBlockByNumber' ? { number: '0x5', hash: HASH, parentHash: HASH } : '0x1',
  }));
  told += at.log.slice(before).join('') + (await at.context.metrics.render());
  expect(told).not.toContain(secret);
  expect(node.calls.length).toBeGreaterThan(0);
  expect(JSON.stringify(node.calls)).not.toContain(secret);
});

it('no header of the client, and none that it could make, reaches the node or comes back', async () => {
  const answer = await post(`/main/v1/${key}`, callText('eth_nothing\r\nset-cookie: a=b', [], 'x\r\ny: z'), {
    'x-forwarded-for': '1.2.3.4',
    'x-evil': 'yes',
  });
  const passed = await post(`/main/v1/${key}`, callText('eth_getTransactionReceipt', [HASH]), {
    'x-evil': 'yes',
  });
  expect([passed.status, passed.text]).toEqual([200, '{"jsonrpc":"2.0","id":1,"result":"0x1"}']);
  const heads = JSON.stringify(node.calls.map(({ headers }) => headers));
  expect(heads).toContain('content-type');
  expect(heads).not.toMatch(/x-evil|x-forwarded-for/i);
  expect(answer.headers['set-cookie']).toBeUndefined();
  expect(answer.headers.y).toBeUndefined();
  expect(answer.json()).toMatchObject({ id: 'x\r\ny: z', error: { code: -32601 } });
});

describe('mutated requests', () => {
  /** Placeholder for the id of another client's filter. */
  const VICTIM = '0xvictim';
  const FILTER = { fromBlock: '0x1', toBlock: '0x5', address: [ADDRESS], topics: [null, [HASH]] };
  const SCRIPT = { code_hash: HASH, hash_type: 'type', args: '0x' };
  const VALID: [string, string, unknown[]][] = [
    ['main', 'eth_getLogs', [FILTER]],
    ['main', 'eth_newFilter', [FILTER]],
    ['main', 'eth_getFilterChanges', [VICTIM]],
    ['main', 'eth_getFilterLogs', [VICTIM]],
    ['main', 'eth_uninstallFilter', [VICTIM]],
    ['main', 'eth_call', [{ to: ADDRESS, data: '0x12', gas: '0x5208' }, 'latest']],
    ['main', 'eth_getStorageAt', [ADDRESS, '0x0', '0x1']],
    ['main', 'eth_getBlockByNumber', ['0x1', true]],
    ['main', 'eth_getTransactionByBlockHashAndIndex', [HASH, '0x0']],
    [
      'core',
      'core_getLogs',
      [{ fromEpoch: '0x1', toEpoch: '0x2', topics: [HASH], limit: '0x1', offset: '0x1' }],
    ],
    [
      'cell',
      'send_transaction',
      [
        {
          cell_deps: [{ dep_type: 'code', out_point: { index: '0x0', tx_hash: HASH } }],
          header_deps: [HASH],
          inputs: [{ previous_output: { index: '0x0', tx_hash: HASH }, since: '0x0' }],
          outputs: [{ capacity: '0x1', lock: SCRIPT, type: SCRIPT }],
          outputs_data: ['0x'],
          version: '0x0',
          witnesses: [],
        },
        'passthrough',
      ],
    ],
    ['cell', 'get_consensus', []],
    ['names', 'registry_accountList', [{ type: 'blockchain', key_info: { coin_type: '60', key: '0x00' } }]],
  ];
  const junk = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.constantFrom<unknown>(
      ...['', '0x', '0xg', '0x00', HASH, ADDRESS, 'latest', 'finalized', 'pending', `0x${'f'.repeat(64)}`],
      ...[-1, 1e308, null, true, [], {}, [[]], [null], { __proto__: null, blockHash: HASH }],
      `0x${'f'.repeat(16)}`,
      '\ud800\u0000',
    ),
  );
  /** Replaces, removes, adds or doubles something somewhere inside. */
  function mutate(value: unknown, path: readonly number[], kind: number, by: unknown): unknown {
    const [step, ...rest] = path;
    if (typeof value !== 'object' || value === null || step === undefined) return by;
    const names = Object.keys(value);
    const name = names[step % (names.length + 1)] ?? 'added';
    const inner = (value as Record<string, unknown>)[name];
    const deeper = typeof inner === 'object' && inner !== null && rest.length > 0;
    const changed = deeper
      ? mutate(inner, rest, kind, by)
      : kind === 1
        ? undefined
        : kind === 2
          ? [inner, inner]
          : by;
    if (Array.isArray(value)) {
      const copy = [...(value as unknown[])];
      copy[Number(name) || 0] = changed;
      return kind === 1 && !deeper ? copy.slice(1) : copy;
    }
    return { ...value, [name]: changed };
  }
  const request = fc
    .tuple(
      fc.constantFrom(...VALID),
      fc.array(fc.tuple(fc.array(fc.nat(12), { maxLength: 6 }), fc.nat(2), junk), {
        minLength: 1,
        maxLength: 3,
      }),
      fc.boolean(),
    )
    .map(([[network, method, params], mutations, batch]) => {
      let call: unknown = { jsonrpc: '2.0', id: 1, method, params };
      for (const [path, kind, by] of mutations) call = mutate(call, path, kind, by);
      return { network, text: JSON.stringify(batch ? [call, call] : call) ?? '' };
    });
  const bytes = fc
    .tuple(request, fc.array(fc.tuple(fc.nat(), fc.string({ maxLength: 3 })), { maxLength: 3 }))
    .map(([{ network, text }, cuts]) => {
      let cut = text;
      for (const [place, by] of cuts) {
        const from = place % (cut.length + 1);
        cut = cut.slice(0, from) + by + cut.slice(from + (place % 4));
      }
      return { network, text: cut };
    });

  const RUNS = Number(process.env.FUZZ_RUNS ?? 2_000);
  /** Requests of one run, sent a few at a time. */
  const AT_ONCE = 50;

  it(`are never our fault, never end the gateway, and never see another key’s filter: ${RUNS} of them`, async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 8 });
    const getAnswer = async ({ network, text }: { network: string; text: string }): Promise<void> => {
      const body = text.replaceAll(VICTIM, victim.id);
      const path = network === 'names' ? '/names/v1' : `/${network}/v1/${key}`;
      const answer = await ask(at.url, path, { method: 'POST', body, headers: JSON_TYPE, agent });
      expect(answer.status, body).not.toBe(500);
      expect([200, 204, 400, 413, 502], body).toContain(answer.status);
      if (answer.status === 204) return;
      const envelopes = [answer.json()].flat() as {
        jsonrpc: string;
        id: unknown;
        result?: unknown;
        error?: { data?: object };
      }[];
      for (const envelope of envelopes) {
        expect(envelope.jsonrpc).toBe('2.0');
        expect('id' in envelope && 'result' in envelope !== 'error' in envelope, answer.text).toBe(true);
        expect(envelope.error?.data ?? {}, body).not.toMatchObject({ reason: 'internal' });
        // The answer to uninstalling an existing filter.
        expect(envelope.result, body).not.toBe(true);
      }
    };
    try {
      await fc.assert(
        fc.asyncProperty(fc.array(bytes, { minLength: AT_ONCE, maxLength: AT_ONCE }), async (requests) => {
          await Promise.all(requests.map(getAnswer));
        }),
        { numRuns: Math.ceil(RUNS / AT_ONCE), endOnFailure: true },
      );
    } finally {
      agent.destroy();
    }
    const faults = at.log.filter((line) => line.includes('The gateway failed'));
    expect(faults).toEqual([]);
    const theirs = await post(`/main/v1/${victim.key}`, callText('eth_getFilterChanges', [victim.id]));
    expect(theirs.json().result).toEqual([]);
    for (const method of ['eth_getFilterChanges', 'eth_getFilterLogs', 'eth_uninstallFilter']) {
      for (const id of [
        victim.id,
        victim.id.toUpperCase().replace('X', 'x'),
        [victim.id],
        { id: victim.id },
      ]) {
        const { result = false } = (await post(`/main/v1/${key}`, callText(method, [id]))).json();
        expect(result).toBe(false);
      }
    }
  });
});
