import { once } from 'node:events';
import { connect } from 'node:net';
import { parseNetworks } from '@packhouse/networks';
import { PackhouseError } from '@packhouse/runtime';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Answer, ask } from '../testing/ask.js';
import { type ScriptedAnswer, type ScriptedNode, startScriptedNode } from '../testing/scripted-node.js';
import { startTestGateway, type TestGateway } from '../testing/test-gateway.js';

let node: ScriptedNode;
let at: TestGateway;
let key: string;
/** The node's answers to calls of clients; its head is watched all the time. */
let says: ScriptedAnswer | ((params: unknown[]) => ScriptedAnswer);

const LOG_BYTES = 300;
/** One log for each block asked for. */
function toLogs(params: unknown[]): ScriptedAnswer {
  const { fromBlock, toBlock } = params[0] as { fromBlock: string; toBlock: string };
  const [from, to] = [Number(fromBlock), toBlock === 'latest' ? 1_000 : Number(toBlock)];
  const logs = Array.from({ length: to - from + 1 }, (_, n) => ({
    blockNumber: `0x${(from + n).toString(16)}`,
    data: `0x${'0'.repeat(LOG_BYTES)}`,
  }));
  return { result: logs };
}

beforeAll(async () => {
  node = await startScriptedNode();
  node.answer(({ method, params }) => {
    if (method === 'eth_chainId') return { result: '0x1' };
    if (method === 'eth_getBlockByNumber' && params[1] === false) {
      return { result: { number: '0x3e8', hash: `0x${'1'.repeat(64)}`, parentHash: `0x${'2'.repeat(64)}` } };
    }
    return typeof says === 'function' ? says(params) : says;
  });
  const rpc = (more = ''): string =>
    `rpc: {maxLogs: 10, maxAnswerBytes: 20000, deny: [eth_getBlockReceipts]${more}}`;
  const hasty = ', timeoutMs: 300, callTimeoutMs: 200';
  const upstreams = `upstreams: [{url: '${node.url}'}]`;
  const networks = parseNetworks(
    `networks:
  - {id: main, family: evm, chainId: 1, ${rpc()}, ${upstreams}}
  - {id: polite, family: evm, chainId: 1, ${rpc(', httpErrors: always200')}, ${upstreams}}
  - {id: main-hasty, family: evm, chainId: 1, ${rpc(hasty)}, ${upstreams}}
  - {id: polite-hasty, family: evm, chainId: 1, ${rpc(`${hasty}, httpErrors: always200`)}, ${upstreams}}
  - {id: other, family: evm, chainId: 1, ${upstreams}}
  - {id: names, family: registry, ${upstreams}}`,
    { source: 'test', env: {} },
  );
  at = await startTestGateway({ networks });
  key = (await at.makeKey()).key;
  // The heads are known from here on.
  const deadline = Date.now() + 60_000;
  for (const network of ['main', 'main-hasty', 'polite-hasty']) {
    while (!(await at.context.metrics.render()).includes(`head_block{network="${network}"`)) {
      expect(Date.now()).toBeLessThan(deadline);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
});

afterAll(async () => {
  await at?.close();
  await node?.close();
});

beforeEach(() => {
  says = { result: '0x1' };
  node.calls.length = 0;
});

const JSON_TYPE = { 'content-type': 'application/json' };
const post = (path: string, body: string, headers: Record<string, string> = JSON_TYPE): Promise<Answer> =>
  ask(at.url, path, { method: 'POST', body, headers });
const callText = (method: string, params: unknown[] = [], id = 7): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params });
const toError = (answer: Answer) =>
  answer.json().error as { code: number; message: string; data: Record<string, unknown> };

/** An envelope with the id, the code, the reason and the request's id. */
function expectRefusal(
  answer: Answer,
  expected: { status: number; code: number; reason: string; id?: unknown },
) {
  const { status, code, reason, id = null } = expected;
  expect(answer.headers['content-type']).toMatch(/^application\/json/);
  const body = answer.json() as { jsonrpc: string; id: unknown; error: { data: { requestId: unknown } } };
  expect([answer.status, body]).toMatchObject([
    status,
    { jsonrpc: '2.0', id, error: { code, message: expect.stringMatching(/\w/), data: { reason } } },
  ]);
  expect(answer.headers['x-request-id']).toBe(body.error.data.requestId);
  expect(Object.keys(body).sort()).toEqual(['error', 'id', 'jsonrpc']);
}

/** The rest of the key's requests, and the cost: `/^0$/` if nothing was counted. */
function expectRateHeaders(answer: Pick<Answer, 'headers'>, cost = /^[1-9]\d*$/) {
  for (const name of ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset']) {
    expect(answer.headers[name], name).toMatch(/^\d+$/);
  }
  expect(answer.headers['ratelimit-cost']).toMatch(cost);
}
const NOT_COUNTED = /^0$/;

/** Refusals of a whole request; `polite` answers them with 200. */
describe.each([
  ['main', false],
  ['polite', true],
])('on the network %s, a request is refused in an envelope', (network, polite) => {
  const status = (real: number): number => (polite ? 200 : real);
  const path = (): string => `/${network}/v1/${key}`;

  it.each(['PUT', 'DELETE', 'PATCH'])('with the wrong verb %s', async (method) => {
    const answer = await ask(at.url, path(), { method });
    expectRefusal(answer, { status: status(405), code: -32600, reason: 'method-not-allowed' });
    expect(answer.headers.allow).toContain('POST');
    expectRateHeaders(answer, NOT_COUNTED);
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', ''])(
    'with the content type "%s"',
    async (type) => {
      const answer = await post(path(), callText('eth_chainId'), type === '' ? {} : { 'content-type': type });
      expectRefusal(answer, { status: status(415), code: -32600, reason: 'media-type-unsupported' });
      expectRateHeaders(answer);
    },
  );

  it('with a body over 1 MiB, and hangs up', async () => {
    const answer = await post(path(), `"${'x'.repeat(1_048_576)}"`, {
      ...JSON_TYPE,
      'content-length': String(1_048_576 + 2),
    });
    expectRefusal(answer, { status: status(413), code: -32005, reason: 'body-too-large' });
    expect(toError(answer).data).toMatchObject({ limit: 1_048_576 });
    expect(answer.headers.connection).toBe('close');
    expectRateHeaders(answer);
  });

  it.each([
    ['no JSON', '{', 400, -32700, 'json-malformed'],
    ['nothing', '', 400, -32700, 'json-malformed'],
    ['a text', '"x"', 400, -32600, 'request-malformed'],
    ['an empty batch', '[]', 400, -32600, 'request-malformed'],
    ['deep JSON', '['.repeat(100_000) + ']'.repeat(100_000), 400, -32600, 'request-malformed'],
    [
      '1,001 calls',
      `[${Array(1_001).fill('{"id":1,"method":"eth_chainId"}').join()}]`,
      413,
      -32005,
      'batch-too-large',
    ],
  ])('with %s', async (_, body, real, code, reason) => {
    const answer = await post(path(), body);
    expectRefusal(answer, { status: status(real), code, reason });
    expectRateHeaders(answer);
  });

  it('where the key is missing, malformed or unknown, in the same words', async () => {
    const texts = new Set<string>();
    for (const wrong of [
      '',
      'x',
      '%2e%2e',
      'ph_',
      `ph_abcdefgh_${'A'.repeat(43)}`,
      `${key}x`,
      key.slice(1),
    ]) {
      const answer = await post(`/${network}/v1/${wrong}`, callText('eth_chainId'));
      expectRefusal(answer, { status: status(401), code: -32001, reason: 'unauthenticated' });
      expect(answer.headers['www-authenticate']).toMatch(/^Bearer/);
      expect(answer.headers['ratelimit-limit']).toBeUndefined();
      texts.add(toError(answer).message);
    }
    expect(texts.size).toBe(1);
  });

  it('where the key has expired, was revoked, or is for another network', async () => {
    const expired = await at.makeKey('unlimited', null, new Date(Date.now() - 1_000));
    const elsewhere = await at.makeKey('unlimited', 'other');
    const revoked = await at.makeKey();
    await at.database.keys.revoke(revoked.row.prefix);
    for (const { key: one } of [expired, elsewhere, revoked]) {
      const answer = await post(`/${network}/v1/${one}`, callText('eth_chainId'));
      expectRefusal(answer, { status: status(403), code: -32001, reason: 'forbidden' });
      expectRateHeaders(answer, NOT_COUNTED);
    }
  });

  it('where the rate is used up', async () => {
    const { key: slow } = await at.makeKey('free');
    at.time.frozenAt = Date.now();
    const batch = `[${Array(25).fill(callText('eth_chainId')).join()}]`;
    expect((await post(`/${network}/v1/${slow}`, batch)).status).toBe(200);
    const answer = await post(`/${network}/v1/${slow}`, callText('eth_chainId'));
    at.time.frozenAt = null;
    expectRefusal(answer, { status: status(429), code: -32005, reason: 'rate-limited' });
    expect(answer.headers['retry-after']).toBe('1');
    expect(toError(answer).data).toMatchObject({ limit: 25, retryAfterMs: 1_000 });
    expectRateHeaders(answer);
  });

  it.each<[string, ScriptedAnswer, number, number, string]>([
    ['did not answer in time', 'hang', 504, -32002, 'upstream-timeout'],
    ['broke off', 'reset', 503, -32002, 'upstream-unavailable'],
    ['speaks nonsense', { status: 200, body: '<html>' }, 502, -32603, 'upstream-nonsense'],
  ])('where the node %s', async (_, script, real, code, reason) => {
    says = script;
    // A short time only where it is to be over: else a busy machine would end other calls.
    const to = script === 'hang' ? `/${network}-hasty/v1/${key}` : path();
    const answer = await post(to, callText('eth_getTransactionByHash', [`0x${'0'.repeat(64)}`]));
    expectRefusal(answer, { status: status(real), code, reason, id: 7 });
    expectRateHeaders(answer);
    expect(answer.headers['retry-after']).toBe(real === 503 ? '1' : undefined);
    const batch = await post(to, `[${callText('eth_getTransactionByHash', [`0x${'0'.repeat(64)}`])}]`);
    expect([batch.status, batch.json()]).toMatchObject([200, [{ id: 7, error: { code, data: { reason } } }]]);
  });
});

it('an answer says how many requests it counted as, and a refusal that was not counted what is left', async () => {
  const { key: free } = await at.makeKey('free');
  at.time.frozenAt = Date.now();
  try {
    const batch = await post(
      `/main/v1/${free}`,
      `[${callText('eth_chainId')},${callText('eth_getLogs', [{}])}]`,
    );
    expect(batch.headers).toMatchObject({ 'ratelimit-cost': '6', 'ratelimit-remaining': '19' });
    const again = await post(`/main/v1/${free}`, callText('eth_chainId'));
    expect(again.headers).toMatchObject({ 'ratelimit-cost': '1', 'ratelimit-remaining': '18' });
    for (let n = 0; n < 2; n++) {
      const verb = await ask(at.url, `/main/v1/${free}`, { method: 'PUT' });
      expect(verb.headers).toMatchObject({ 'ratelimit-cost': '0', 'ratelimit-remaining': '18' });
    }
    // A text that only looks like an existing key reveals nothing of that key.
    const longer = await ask(at.url, `/main/v1/${free}x`, { method: 'PUT' });
    expect(longer.headers['ratelimit-limit']).toBeUndefined();
  } finally {
    at.time.frozenAt = null;
  }
});

it('an unknown network is refused in an envelope', async () => {
  const answer = await post(`/nowhere/v1/${key}`, callText('eth_chainId'));
  expectRefusal(answer, { status: 404, code: -32001, reason: 'network-unknown' });
  expectRateHeaders(answer, NOT_COUNTED);
  const nothing = await ask(at.url, '/main/files/nothing', { headers: { authorization: `Bearer ${key}` } });
  expect(nothing.status).toBe(404);
  expectRateHeaders(nothing, NOT_COUNTED);
});

/** Refusals of one call: 200, alone and in a batch. */
describe.each([
  ['alone', (text: string) => text],
  ['in a batch', (text: string) => `[${text}]`],
])('a call %s', (_, wrap) => {
  const one = async (method: string, params: unknown[] = []) => {
    const answer = await post(`/main/v1/${key}`, wrap(callText(method, params)));
    expect(answer.status).toBe(200);
    expectRateHeaders(answer);
    const [body] = [answer.json()].flat() as unknown as Record<string, unknown>[];
    return body as { id: number; result?: unknown; error: ReturnType<typeof toError> };
  };

  it.each(['eth_nothing', 'eth_getBlockReceipts', '__proto__', 'toString', ''])(
    'of the method "%s" is refused',
    async (method) => {
      expect(await one(method)).toMatchObject({
        id: 7,
        error: { code: -32601, data: { reason: 'method-unknown' } },
      });
      expect(node.calls.filter((call) => call.method === method)).toEqual([]);
    },
  );

  it.each(['core_getLogs', 'cfx_getLogs', 'send_transaction', 'registry_accountList', 'das_accountList'])(
    'of the method "%s", which networks of another family have, is told so',
    async (method) => {
      expect(await one(method)).toMatchObject({
        id: 7,
        error: { code: -32004, data: { reason: 'method-unsupported' } },
      });
      expect(node.calls.filter((call) => call.method === method)).toEqual([]);
    },
  );

  it.each([
    ['eth_getBlockByNumber', [], 'missing value for required argument 0'],
    ['eth_getBlockByNumber', ['0x1'], 'missing value for required argument 1'],
    ['eth_getBlockByNumber', ['0x1', true, 5], 'too many arguments, want at most 2'],
    ['eth_getBlockByNumber', ['1', true], 'invalid argument 0: hex string without 0x prefix'],
    ['eth_getBlockByNumber', ['0x01', true], 'invalid argument 0: hex number with leading zero digits'],
    ['eth_getBlockByNumber', ['0x', true], 'invalid argument 0: hex string "0x"'],
    ['eth_getTransactionByHash', ['0x12'], 'invalid argument 0: hex string has length 2, want 64'],
    ['eth_call', [{ to: '0x12' }, 'latest'], 'invalid argument 0: to: hex string has length 2, want 40'],
    ['eth_getLogs', [{ topics: Array(5).fill(null) }], 'invalid argument 0: topics: 5 topics, at most 4'],
    ['eth_getLogs', [{ fromBlock: '0x5', toBlock: '0x4' }], 'invalid block range params'],
    [
      'eth_getLogs',
      [{ blockHash: `0x${'0'.repeat(64)}`, fromBlock: '0x1' }],
      'invalid argument 0: cannot specify both BlockHash and FromBlock/ToBlock, choose one or the other',
    ],
  ])('of %s with %j is refused in the words of geth', async (method, params, message) => {
    expect((await one(method, params)).error).toMatchObject({ code: -32602, message });
  });

  it('for too many logs names a range that is answered', async () => {
    says = toLogs;
    const { error } = await one('eth_getLogs', [{ fromBlock: '0x10', toBlock: '0x100' }]);
    expect(error).toMatchObject({ code: -32005, data: { reason: 'too-many-logs' } });
    const range = error.data.suggestedRange as object;
    expect(range).toEqual({ fromBlock: '0x10', toBlock: '0x19' });
    expect((await one('eth_getLogs', [range])).result).toHaveLength(10);
  });

  it('whose answer is too large is refused', async () => {
    says = { result: 'x'.repeat(30_000) };
    expect((await one('eth_getTransactionByHash', [`0x${'0'.repeat(64)}`])).error).toMatchObject({
      code: -32005,
      data: { reason: 'answer-too-large', limit: 20_000 },
    });
  });

  it('gets a node’s own error byte for byte', async () => {
    const error = { code: 3, message: 'execution reverted: "no"', data: '0x08c379a0' };
    says = { error };
    expect((await one('eth_call', [{ to: `0x${'0'.repeat(40)}` }])).error).toEqual(error);
  });
});

it('a read that is a notification asks nobody, alone and in a batch', async () => {
  const notification = '{"jsonrpc":"2.0","method":"eth_getTransactionByHash","params":["0x12"]}';
  for (const body of [notification, `[${notification},${notification}]`]) {
    const answer = await post(`/main/v1/${key}`, body);
    expect([answer.status, answer.text]).toEqual([204, '']);
    expectRateHeaders(answer);
  }
  expect(node.calls.filter(({ method }) => method === 'eth_getTransactionByHash')).toEqual([]);
});

it('an open network answers without a key, and refuses in envelopes', async () => {
  says = { result: { errno: 0, errmsg: '', data: { account_list: [] } } };
  const lookup = { type: 'blockchain', key_info: { coin_type: '60', key: '0x0' } };
  for (const path of ['/names/v1', '/names/v1/']) {
    const answer = await post(path, callText('registry_accountList', [lookup]));
    expect([answer.status, answer.json()]).toMatchObject([200, { result: { errno: 0 } }]);
    expectRateHeaders(answer);
    const put = await ask(at.url, path, { method: 'PUT' });
    expectRefusal(put, { status: 405, code: -32600, reason: 'method-not-allowed' });
    const nothing = await post(path, '');
    expectRefusal(nothing, { status: 400, code: -32700, reason: 'json-malformed' });
    expectRateHeaders(nothing);
  }
});

it('an open network takes an address with a key as well, and then the key counts', async () => {
  says = { result: { errno: 0, errmsg: '', data: { account_list: [] } } };
  const body = callText('registry_accountList', [{ type: 'blockchain', key_info: { key: '0x0' } }]);
  const { key: standard } = await at.makeKey('standard');
  const answer = await post(`/names/v1/${standard}`, body);
  expect([answer.status, answer.json()]).toMatchObject([200, { result: { errno: 0 } }]);
  expect(answer.headers['ratelimit-limit']).toBe('250');
  const { key: foreign } = await at.makeKey('standard', 'main');
  expectRefusal(await post(`/names/v1/${foreign}`, body), { status: 403, code: -32001, reason: 'forbidden' });
  expectRefusal(await post('/names/v1/no-key', body), {
    status: 401,
    code: -32001,
    reason: 'unauthenticated',
  });
});

it('a body of another type is told which header to send', async () => {
  for (const type of ['text/plain', 'application/x-www-form-urlencoded']) {
    const answer = await ask(at.url, `/main/v1/${key}`, {
      method: 'POST',
      body: callText('eth_chainId'),
      headers: { 'content-type': type },
    });
    expect([answer.status, toError(answer).message]).toEqual([
      415,
      'Send the body with the header content-type: application/json.',
    ]);
  }
});

it('a fault of the gateway is 500, with the request’s id and nothing of its cause, alone and in a batch', async () => {
  const { filters } = at.database;
  const { get } = filters;
  filters.get = () => Promise.reject(new Error(`fault at ${key}`));
  try {
    const text = callText('eth_getFilterChanges', ['0x1']);
    const answer = await post(`/main/v1/${key}`, text);
    expectRefusal(answer, { status: 500, code: -32603, reason: 'internal', id: 7 });
    expect(answer.text).not.toMatch(/fault at|stack|\.ts/);
    const batch = await post(`/main/v1/${key}`, `[${text}]`);
    expect([batch.status, batch.json()]).toMatchObject([200, [{ error: { code: -32603 } }]]);
    const logged = at.log.filter((line) => line.includes('fault at'));
    expect(logged).toHaveLength(2);
    expect(logged.join()).toContain(answer.headers['x-request-id'] as string);
    expect(logged.join()).not.toContain(key);
  } finally {
    filters.get = get;
  }
});

it('a database that is away is 503, and says when to come again, alone and in a batch', async () => {
  const { filters } = at.database;
  const { get } = filters;
  const away = new PackhouseError({ code: 'DATABASE_UNAVAILABLE', message: 'gone' });
  filters.get = () => Promise.reject(away);
  try {
    const text = callText('eth_getFilterChanges', ['0x1']);
    const data = { reason: 'unavailable', retryAfterMs: 5_000 };
    const answer = await post(`/main/v1/${key}`, text);
    expect([answer.status, toError(answer)]).toMatchObject([503, { code: -32002, data }]);
    expect((await post(`/main/v1/${key}`, `[${text}]`)).json()).toMatchObject([{ error: { data } }]);
  } finally {
    filters.get = get;
  }
});

it('a request that comes while the gateway drains is refused in an envelope', async () => {
  const closing = await startTestGateway();
  const { key: one } = await closing.makeKey();
  const body = callText('eth_chainId');
  const head = `POST /ethereum/v1/${one} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n`;
  const request = `${head}content-length: ${body.length}\r\n\r\n${body}`;
  const socket = connect(Number(new URL(closing.url).port), '127.0.0.1');
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString();
  });
  const ended = once(socket, 'close');
  // A connection in use stays open until its answer is sent; later requests on it are refused.
  const arrived = once(closing.gateway.server, 'request');
  socket.write(request.slice(0, -1));
  await arrived;
  const closed = closing.close();
  socket.write(request.slice(-1) + request);
  await ended;
  const [, first, second = ''] = text.split('HTTP/1.1 ');
  expect(first).toContain('upstream-unavailable');
  expect(second).toMatch(/^503 /);
  expect(second).toMatch(/\r\nconnection: close\r\n/i);
  expect(second).toMatch(/\r\nretry-after: 1\r\n/i);
  expect(JSON.parse(second.split('\r\n\r\n')[1] ?? '')).toMatchObject({
    id: null,
    error: { code: -32002, data: { reason: 'draining', retryAfterMs: 1_000 } },
  });
  await closed;
});

it('the daily quota that is used up is 429 until midnight', async () => {
  const { key: daily } = await at.makeKey('free');
  const noon = new Date();
  at.time.frozenAt = noon.setUTCHours(12, 0, 0, 0) + 86_400_000;
  try {
    // A hundred that cost five each; the seconds pass that pay for them.
    const batch = `[${Array(100).fill(callText('eth_getLogs', [])).join()}]`;
    for (let n = 0; n < 200; n++) {
      expect((await post(`/main/v1/${daily}`, batch)).status).toBe(200);
      at.time.frozenAt += 20_000;
    }
    const answer = await post(`/main/v1/${daily}`, callText('eth_chainId'));
    expectRefusal(answer, { status: 429, code: -32005, reason: 'quota-exhausted' });
    expect(Number(answer.headers['retry-after'])).toBe(12 * 3_600 - 200 * 20);
    expect(answer.headers['ratelimit-remaining']).toBe('0');
    at.time.frozenAt += 12 * 3_600_000;
    expect((await post(`/main/v1/${daily}`, callText('eth_chainId'))).status).toBe(200);
  } finally {
    at.time.frozenAt = null;
  }
});
