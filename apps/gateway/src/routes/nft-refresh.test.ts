import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Database, Nft } from '@packhouse/database';
import { parseNetworks } from '@packhouse/networks';
import { createMetrics } from '@packhouse/runtime';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createGateway } from '../create-gateway.js';
import type { NftOptions } from '../nft/nft-policy.js';
import { abiString } from '../testing/abi-encode.js';
import { ask } from '../testing/ask.js';
import { contractAt, userAt } from '../testing/base32-of.js';
import { type ScriptedContracts, scriptedContracts } from '../testing/scripted-contracts.js';
import { type ScriptedNode, startScriptedNode } from '../testing/scripted-node.js';
import { startTestGateway, type TestGateway } from '../testing/test-gateway.js';

const LEASE_MS = 1_500;
let node: ScriptedNode;
let web: Server;
let at: TestGateway;
let key: string;
/** For all networks. */
let anyKey: string;
let options: NftOptions;
let contracts: ScriptedContracts;
/** What the web answers, by path; default: a document that names the path. */
let pages: Record<string, (request: IncomingMessage, response: ServerResponse) => void>;
let visited: string[];
let contract: string;
let used = 0;

const networksText = (core = 'core') => `networks:
  - {id: ${core}, family: core, chainId: 1029, upstreams: [{url: '${node.url}'}]}
  - {id: evm, family: evm, chainId: 1, upstreams: [{url: '${node.url}'}]}`;

beforeAll(async () => {
  node = await startScriptedNode();
  web = createServer((request, response) => {
    const path = request.url ?? '';
    visited.push(path);
    const page = pages[path];
    if (page === undefined) response.end(`{"name":"${path}"}`);
    else page(request, response);
  });
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
  const { port } = web.address() as AddressInfo;
  options = {
    allowHttp: true,
    ipfsGateways: ['http://ipfs.example/ipfs/'],
    testing: {
      resolve: async (host) => (host === 'inside.example' ? ['10.0.0.1'] : ['93.184.216.34']),
      dial: () => ({ address: '127.0.0.1', port }),
      timeoutMs: 5_000,
      leaseMs: LEASE_MS,
    },
  };
  at = await startTestGateway({
    networks: parseNetworks(networksText(), { source: 'test', env: {} }),
    nft: options,
  });
  key = (await at.makeKey('unlimited', 'core')).key;
  anyKey = (await at.makeKey()).key;
});
afterAll(async () => {
  await at?.close();
  await node?.close();
  await new Promise((resolve) => web.close(resolve));
});
beforeEach(() => {
  contracts = scriptedContracts();
  node.answer((call) => contracts.answer(call));
  [pages, visited] = [{}, []];
  used += 1;
  contract = contractAt(used);
});
afterEach(() => web.closeAllConnections());

const put = (
  body: unknown,
  more: { key?: string; network?: string; headers?: Record<string, string>; url?: string } = {},
) =>
  ask(more.url ?? at.url, `/${more.network ?? 'core'}/v1/${more.key ?? key}/nft-api/refresh`, {
    method: 'PUT',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...more.headers },
  });

interface Status {
  status: string;
  found: number | null;
  complete: boolean | null;
  counts: Record<string, number>;
  tokens: {
    contractAddress: string;
    tokenId: string;
    outcome: string;
    asked_at: string;
    refreshed: boolean;
  }[];
  next: string | null;
}

const look = async (url: string): Promise<Status> => {
  const { pathname, search } = new URL(url);
  const answer = await ask(at.url, pathname + search);
  expect(answer.status, answer.text).toBe(200);
  return answer.json() as unknown as Status;
};

/** Asks for a refresh and waits for its end. */
const refreshed = async (body: object): Promise<Status & { url: string }> => {
  const answer = await put(body);
  expect(answer.status, answer.text).toBe(202);
  const url = String(answer.json().status_url);
  return { ...(await done(url)), url };
};

const done = async (url: string): Promise<Status> => {
  await vi.waitFor(async () => expect((await look(url)).status).toBe('done'), {
    timeout: 60_000,
    interval: 50,
  });
  return look(url);
};

const stored = (tokenId: string) => at.database.nft.token('core', { contract, tokenId });

describe('a refresh', () => {
  it('of one token asks the contract, fetches the document and stores it', async () => {
    contracts.add({ contract, id: 255n, uri: 'http://a.example/meta/255' });
    const answer = await put({ contractAddress: contract.toUpperCase(), tokenId: '0x00ff' });
    expect(answer.status).toBe(202);
    expect(answer.headers['cache-control']).toBe('no-store');
    const body = answer.json();
    expect(body).toEqual({
      job_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      status: 'queued',
      accepted: 1,
      status_url: `${at.url}/core/v1/${key}/nft-api/refresh/${String(body.job_id)}`,
    });
    const end = await done(String(body.status_url));
    expect(end).toMatchObject({
      ...{ target: { contractAddress: contract, tokenId: '0xff' }, found: 1, complete: true, next: null },
      tokens: [{ contractAddress: contract, tokenId: '0xff', outcome: 'indexed', refreshed: true }],
    });
    expect(end.counts).toMatchObject({ indexed: 1, waiting: 0, unreachable: 0 });
    expect(await stored('0xff')).toMatchObject({
      ...{ outcome: 'indexed', standard: 'erc721', uri: 'http://a.example/meta/255' },
      metadata: '{"name":"/meta/255"}',
    });
  });

  it('of an ERC-1155 token puts 64 lower-case hex digits in the place of {id}', async () => {
    const id = (1n << 255n) + 0xabcdefn;
    contracts.add({
      contract,
      id,
      uri: 'ipfs://bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi/{id}.json',
      standard: 'erc1155',
    });
    await refreshed({ contractAddress: contract, tokenId: `0x${id.toString(16).toUpperCase()}` });
    const hex = id.toString(16).padStart(64, '0');
    expect(visited).toEqual([
      `/ipfs/bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi/${hex}.json`,
    ]);
    expect((await stored(`0x${id.toString(16)}`))?.outcome).toBe('indexed');
  });

  it('of a contract finds its tokens, newest first, and pages them', async () => {
    for (let n = 1; n <= 7; n++)
      contracts.add({ contract, id: BigInt(n), uri: `http://a.example/${n}`, epoch: n });
    const { url, ...end } = await refreshed({ contractAddress: contract });
    expect(end).toMatchObject({ found: 7, complete: true, counts: { indexed: 7 } });
    const first = await look(`${url}?limit=3`);
    const second = await look(`${url}?limit=3&cursor=${first.next}`);
    const third = await look(`${url}?limit=3&cursor=${second.next}`);
    expect([first, second, third].map(({ tokens }) => tokens.map(({ tokenId }) => tokenId))).toEqual([
      ...[['0x7', '0x6', '0x5'], ['0x4', '0x3', '0x2'], ['0x1']],
    ]);
    expect(third.next).toBeNull();
    expect(visited).toHaveLength(7);
  });

  it('of an owner finds what the owner has now', async () => {
    const [me, other] = [userAt(used), userAt(9_999)];
    contracts.add({ contract, id: 1n, uri: 'http://a.example/1', owner: me });
    contracts.add({ contract, id: 2n, uri: 'http://a.example/2', owner: other });
    const end = await refreshed({ ownerAddress: me });
    expect(end.tokens.map(({ tokenId }) => tokenId)).toEqual(['0x1']);
  });

  it.each<[string, string, string, string?]>([
    ['indexed', 'from the URI itself', 'data:application/json;base64,eyJhIjoxfQ=='],
    ['missing_token', 'a call that reverts', 'revert'],
    ['invalid_uri', 'an empty one', ''],
    ['invalid_uri', 'a relative one', 'meta/1.json'],
    ['invalid_uri', 'credentials', 'http://u:p@a.example/'],
    ['invalid_uri', 'another port', 'http://a.example:6379/'],
    ['invalid_scheme', 'a file', 'file:///etc/passwd'],
    ['unreachable', 'a private address', 'http://169.254.169.254/latest/meta-data/'],
    ['unreachable', 'a name with a private address', 'http://inside.example/'],
    ['unreachable', 'not found', 'http://a.example/404', '/404'],
    ['throttled', 'too many requests', 'http://a.example/429', '/429'],
    ['too_large', 'too much', 'http://a.example/large', '/large'],
    ['too_large', 'a tokenURI of two megabytes', `data:,${'x'.repeat(2_000_000)}`],
    ['invalid_json', 'no JSON', 'http://a.example/html', '/html'],
    ['invalid_json', 'no object', 'http://a.example/list', '/list'],
    ['invalid_json', 'no UTF-8', 'http://a.example/latin1', '/latin1'],
  ])('ends as %s: %s', async (outcome, _, uri) => {
    contracts.add({ contract, id: 1n, uri });
    pages = {
      '/404': (__, response) => response.writeHead(404).end('{}'),
      '/429': (__, response) => response.writeHead(429).end('{}'),
      '/large': (__, response) => response.end(Buffer.alloc(1_048_577, ' ')),
      '/html': (__, response) => response.end('<html>secret</html>'),
      '/list': (__, response) => response.end('[1]'),
      '/latin1': (__, response) => response.end(Buffer.from('{"a":"\xe9"}', 'latin1')),
    };
    const { url: _url, ...end } = await refreshed({ contractAddress: contract, tokenId: '0x1' });
    expect(end.tokens).toMatchObject([{ outcome }]);
    expect(end.counts[outcome]).toBe(1);
    // Neither what was fetched nor what a socket said reaches the caller.
    expect(JSON.stringify(end)).not.toMatch(/secret|ECONN|93\.184|127\.0/);
    expect((await stored('0x1'))?.metadata ?? null).toBe(outcome === 'indexed' ? '{"a":1}' : null);
  });

  it('ends as missing_token at a contract of no tokens, and where the token is none', async () => {
    contracts.add({ contract, id: 1n, uri: 'http://a.example/1', standard: 'none' });
    expect((await refreshed({ contractAddress: contract, tokenId: '0x1' })).counts.missing_token).toBe(1);
    const other = contractAt(10_000 + used);
    contracts.add({ contract: other, id: 1n, uri: 'http://a.example/1' });
    expect((await refreshed({ contractAddress: other, tokenId: '0x2' })).counts.missing_token).toBe(1);
    expect(visited).toEqual([]);
  });

  it('ends as too_large where the contract’s answer alone is too much', async () => {
    contracts.add({ contract, id: 1n, uri: 'x' });
    node.answer((call) => {
      const { data } = (call.params[0] ?? {}) as { data?: string };
      return data?.startsWith('0xc87b56dd')
        ? { result: abiString('x'.repeat(4_000_000)) }
        : contracts.answer(call);
    });
    expect((await refreshed({ contractAddress: contract, tokenId: '0x1' })).counts.too_large).toBe(1);
  });

  it('asks for a token once in 15 minutes, and tells what came of it then', async () => {
    contracts.add({ contract, id: 1n, uri: 'http://a.example/once' });
    const first = await refreshed({ contractAddress: contract, tokenId: '0x1' });
    at.time.offset += 14 * 60_000;
    const again = await put({ contractAddress: contract, tokenId: '0x1' });
    expect(again.json()).toMatchObject({ accepted: 0 });
    const second = await done(String(again.json().status_url));
    expect(second.tokens).toEqual([{ ...first.tokens[0], refreshed: false }]);
    expect((await refreshed({ contractAddress: contract })).tokens[0]).toMatchObject({ refreshed: false });
    expect(visited).toEqual(['/once']);
    at.time.offset += 60_000 + 1_000;
    expect((await refreshed({ contractAddress: contract, tokenId: '0x1' })).tokens[0]?.refreshed).toBe(true);
    expect(visited).toEqual(['/once', '/once']);
  });

  it('is the same job while it runs, for other applications too, which see it only if they asked', async () => {
    contracts.add({ contract, id: 1n, uri: 'http://a.example/slow' });
    let open = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      open = resolve;
    });
    pages['/slow'] = (_, response) => void held.then(() => response.end('{}'));
    const first = (await put({ contractAddress: contract })).json();
    await vi.waitFor(() => expect(visited).toEqual(['/slow']), { timeout: 60_000 });
    const made = await at.database.keys.create({ application: 'other', network: null, plan: 'unlimited' });
    const path = (k: string) => `/core/v1/${k}/nft-api/refresh/${String(first.job_id)}`;
    expect((await ask(at.url, path(made.key))).json()).toMatchObject({ status: 404, reason: 'job-unknown' });
    const same = (await put({ contractAddress: contract }, { key: made.key })).json();
    expect(same).toMatchObject({ job_id: first.job_id, status: 'running', accepted: 1 });
    expect((await ask(at.url, path(made.key))).json()).toMatchObject({ status: 'running' });
    const colleague = await at.makeKey('unlimited', 'core');
    expect((await ask(at.url, path(colleague.key))).json()).toMatchObject({ status: 'running' });
    open();
    await done(String(first.status_url));
    expect(visited).toEqual(['/slow']);
  });

  it('of an owner is not held up by a contract that no node can call', async () => {
    const [me, spam] = [userAt(used), contractAt(30_000)];
    contracts.add({ contract, id: 1n, uri: 'http://a.example/1', owner: me });
    contracts.add({ contract: spam, id: 9n, uri: 'http://a.example/9', owner: me, epoch: 5 });
    node.answer((call) => {
      const { to } = (call.params[0] ?? {}) as { to?: string };
      return to === spam ? { error: { code: -32603, message: 'out of memory' } } : contracts.answer(call);
    });
    const url = String((await put({ ownerAddress: me })).json().status_url);
    await vi.waitFor(async () => expect((await look(url)).counts).toMatchObject({ indexed: 1, waiting: 1 }), {
      timeout: 60_000,
    });
  });

  it('waits for the nodes where none answers, and goes on', async () => {
    contracts.add({ contract, id: 1n, uri: 'http://a.example/1' });
    let down = true;
    node.answer((call) => {
      if (!down || call.method !== 'cfx_call') return contracts.answer(call);
      return { error: { code: -32077, message: 'the node is catching up' } };
    });
    const url = String((await put({ contractAddress: contract, tokenId: '0x1' })).json().status_url);
    const jobId = Buffer.from(url.slice(-32), 'hex');
    const failures = () => at.log.some((line) => line.includes('no node answers for a job of tokens'));
    await vi.waitFor(() => expect(failures()).toBe(true), { timeout: 60_000 });
    expect((await look(url)).counts).toMatchObject({ waiting: 1 });
    down = false;
    expect(jobId).toHaveLength(16);
    expect((await done(url)).counts).toMatchObject({ indexed: 1 });
  });
});

describe('several gateways on one database', () => {
  /** Another gateway; `nft` in the place of its part of the database. */
  const another = async (nft: Nft, network = 'core') => {
    const context = { ...at.context, metrics: createMetrics() };
    const database: Database = { ...at.database, nft };
    const gateway = await createGateway({
      ...{ context, database, objectStore: at.objectStore, nft: options },
      networks: parseNetworks(networksText(network), { source: 'test', env: {} }),
    });
    return { gateway, url: `http://127.0.0.1:${await gateway.listen(0, '127.0.0.1')}` };
  };

  it('share the work, and ask for each token once', async () => {
    const second = await another(at.database.nft);
    try {
      for (let n = 1; n <= 40; n++) contracts.add({ contract, id: BigInt(n), uri: `http://a.example/${n}` });
      const bodies = [
        { contractAddress: contract },
        ...[1, 2, 3, 4, 5].map((n) => ({ contractAddress: contract, tokenId: `0x${n}` })),
      ];
      const urls = await Promise.all(
        bodies.flatMap((body) =>
          [at.url, second.url].map(async (url) => {
            const answer = await put(body, { url });
            expect(answer.status, answer.text).toBe(202);
            return String(answer.json().status_url);
          }),
        ),
      );
      const ends = await Promise.all(urls.map(done));
      expect(ends.every(({ counts, found }) => counts.indexed === found)).toBe(true);
      expect(ends.filter(({ found }) => found === 40)).toHaveLength(2);
      expect([...visited].sort()).toEqual(Array.from({ length: 40 }, (_, n) => `/${n + 1}`).sort());
    } finally {
      await second.gateway.close();
    }
  });

  it('take up the job of one that was killed in the middle, where it was', async () => {
    for (let n = 1; n <= 9; n++)
      contracts.add({ contract, id: BigInt(n), uri: `http://a.example/${n}`, epoch: n });
    const held: ServerResponse[] = [];
    for (const n of [1, 2, 3, 4, 5]) pages[`/${n}`] = (_, response) => void held.push(response);
    // Dead: nothing that it does reaches Postgres any more, neither a result nor a sign of life nor a farewell.
    let dead = false;
    const dying = new Proxy(at.database.nft, {
      get:
        (nft, name) =>
        async (...values: unknown[]): Promise<unknown> => {
          if (dead) throw new Error('this gateway is dead');
          return (nft[name as keyof Nft] as (...all: unknown[]) => unknown)(...values);
        },
    });
    const victim = await another(dying, 'doomed');
    const answer = await put(
      { contractAddress: contract },
      { url: victim.url, network: 'doomed', key: anyKey },
    );
    expect(answer.status, answer.text).toBe(202);
    const path = new URL(String(answer.json().status_url)).pathname;
    await vi.waitFor(() => expect(held).toHaveLength(4), { timeout: 60_000 });
    const before = (await ask(victim.url, path)).json() as unknown as Status;
    expect(before).toMatchObject({ status: 'running', counts: { indexed: 4, waiting: 5 } });
    dead = true;
    for (const n of [1, 2, 3, 4, 5]) delete pages[`/${n}`];
    const successor = await another(at.database.nft, 'doomed');
    try {
      await vi.waitFor(
        async () => expect((await ask(successor.url, path)).json()).toMatchObject({ status: 'done' }),
        { timeout: 60_000, interval: 50 },
      );
      expect((await ask(successor.url, path)).json()).toMatchObject({ found: 9, counts: { indexed: 9 } });
      // What had an outcome kept it; what was under way was asked for again.
      const times = (n: number) => visited.filter((one) => one === `/${n}`).length;
      expect([9, 8, 7, 6, 1].map(times)).toEqual([1, 1, 1, 1, 1]);
      expect([5, 4, 3, 2].map(times)).toEqual([2, 2, 2, 2]);
      // What it still gets is no longer its to write.
      for (const response of held) response.end('{"late":true}');
      expect((await at.database.nft.token('doomed', { contract, tokenId: '0x5' }))?.metadata).toBe(
        '{"name":"/5"}',
      );
    } finally {
      await victim.gateway.close();
      await successor.gateway.close();
    }
  });

  it('hand a job over at once where one is drained', async () => {
    contracts.add({ contract, id: 1n, uri: 'http://a.example/1' });
    pages['/1'] = () => undefined;
    const first = await another(at.database.nft, 'drained');
    const answer = await put(
      { contractAddress: contract },
      { url: first.url, network: 'drained', key: anyKey },
    );
    const path = new URL(String(answer.json().status_url)).pathname;
    await vi.waitFor(() => expect(visited).toHaveLength(1), { timeout: 60_000 });
    await first.gateway.close();
    delete pages['/1'];
    const id = Buffer.from(path.slice(-32), 'hex');
    const view = await at.database.nft.view({ id, network: 'drained', application: 'test' });
    expect(view).toMatchObject({ status: 'queued', counts: { waiting: 1 } });
    const second = await another(at.database.nft, 'drained');
    await vi.waitFor(
      async () => expect((await ask(second.url, path)).json()).toMatchObject({ status: 'done' }),
      { timeout: 60_000, interval: 50 },
    );
    await second.gateway.close();
  });
});

describe('what is refused', () => {
  const ADDRESS = contractAt(77_777);
  it.each<[string, unknown, number, string, RegExp]>([
    ['no fields', {}, 400, 'request-malformed', /do not go together/],
    ['a token without its contract', { tokenId: '0x1' }, 400, 'request-malformed', /do not go together/],
    [
      'an owner and a token',
      { ownerAddress: userAt(1), tokenId: '0x1' },
      400,
      'request-malformed',
      /together/,
    ],
    [
      'an owner and a contract',
      { ownerAddress: userAt(1), contractAddress: ADDRESS },
      400,
      'request-malformed',
      /together/,
    ],
    [
      'a field that is not known',
      { contractAddress: ADDRESS, force: true },
      400,
      'request-malformed',
      /not known/,
    ],
    ['a field that every object has', '{"__proto__":{}}', 400, 'request-malformed', /not known/],
    ['an array', [ADDRESS], 400, 'request-malformed', /got an array/],
    ['null', 'null', 400, 'request-malformed', /got null/],
    ['no JSON', '{"a"', 400, 'json-malformed', /not JSON/],
    ['nothing', '', 400, 'json-malformed', /not JSON/],
    [
      'a checksum that is wrong',
      { contractAddress: `${ADDRESS.slice(0, -1)}${ADDRESS.endsWith('a') ? 'b' : 'a'}` },
      400,
      'parameter-invalid',
      /contractAddress: the checksum/,
    ],
    [
      'another network',
      { ownerAddress: 'cfxtest:aarc9abycue0hhzgyrr53m6cxedgccrmmy8m50bu1p' },
      400,
      'parameter-invalid',
      /ownerAddress: .* expected cfx/,
    ],
    [
      'a hex address',
      { contractAddress: '0x85d80245dc02f5a89589e1f19c5c718e405b56cd' },
      400,
      'parameter-invalid',
      /base32/,
    ],
    [
      'a user in the place of a contract',
      { contractAddress: userAt(1) },
      400,
      'parameter-invalid',
      /not of a contract/,
    ],
    ['null as an address', { contractAddress: null }, 400, 'parameter-invalid', /got null/],
    ['a decimal id', { contractAddress: ADDRESS, tokenId: '10' }, 400, 'parameter-invalid', /tokenId: .*0x/],
    [
      'a number as an id',
      { contractAddress: ADDRESS, tokenId: 1 },
      400,
      'parameter-invalid',
      /tokenId: .*got number/,
    ],
    [
      'an id of 65 digits',
      { contractAddress: ADDRESS, tokenId: `0x${'1'.repeat(65)}` },
      400,
      'parameter-invalid',
      /1 to 64/,
    ],
    [
      'a body of 5 KiB',
      { contractAddress: ADDRESS, tokenId: `0x${'1'.repeat(5_000)}` },
      413,
      'body-too-large',
      /./,
    ],
  ])('%s', async (_, body, status, reason, detail) => {
    const answer = await put(body);
    expect(answer.headers['content-type']).toContain('application/problem+json');
    expect(answer.json()).toMatchObject({ status, reason, detail: expect.stringMatching(detail) });
    expect(answer.status).toBe(status);
  });

  it('networks of other families, with 404', async () => {
    const answer = await put({ contractAddress: ADDRESS }, { network: 'evm', key: anyKey });
    expect(answer.json()).toMatchObject({ status: 404, reason: 'network-without-nft', code: -32004 });
    const status = await ask(at.url, `/evm/v1/${anyKey}/nft-api/refresh/${'0'.repeat(32)}`);
    expect(status.json()).toMatchObject({ status: 404, reason: 'network-without-nft' });
  });

  it('strangers, other keys, other verbs and other types', async () => {
    const body = { contractAddress: ADDRESS };
    expect((await put(body, { key: 'ph_abcdefgh_' })).status).toBe(401);
    expect((await put(body, { key: `${key.slice(0, -1)}_` })).status).toBe(401);
    expect((await ask(at.url, '/core/v1/nft-api/refresh', { method: 'PUT' })).status).toBe(401);
    const elsewhere = (await at.makeKey('unlimited', 'evm')).key;
    expect((await put(body, { key: elsewhere })).status).toBe(403);
    const posted = await ask(at.url, `/core/v1/${key}/nft-api/refresh`, { method: 'POST' });
    expect([posted.status, posted.headers.allow]).toEqual([405, 'PUT']);
    expect((await put(body, { headers: { 'content-type': 'text/plain' } })).status).toBe(415);
  });

  it('more jobs of one application than it may have under way', async () => {
    const { key: greedy } = await at.database.keys.create({
      application: 'greedy',
      network: null,
      plan: 'unlimited',
    });
    node.answer(() => 'hang');
    let last = await put({ contractAddress: contractAt(20_000) }, { key: greedy });
    for (let n = 1; n <= 50; n++)
      last = await put({ contractAddress: contractAt(20_000 + n) }, { key: greedy });
    expect(last.json()).toMatchObject({ status: 429, reason: 'too-many-jobs', limit: 50 });
    expect(last.headers['retry-after']).toBe('10');
    node.answer((call) => contracts.answer(call));
  });

  it.each([
    ['', 'job-unknown'],
    ['?limit=0', 'parameter-invalid'],
    ['?limit=201', 'parameter-invalid'],
    ['?limit=x', 'parameter-invalid'],
    ['?cursor=-1', 'cursor-invalid'],
    ['?cursor=1&cursor=2', 'cursor-invalid'],
  ])('a look with %j that leads nowhere: %s', async (query, reason) => {
    const answer = await ask(at.url, `/core/v1/${key}/nft-api/refresh/${'0'.repeat(32)}${query}`);
    expect(answer.json()).toMatchObject({ reason });
  });

  it.each(['x', '0'.repeat(31), '%00', `${'0'.repeat(32)}'--`])('a job named %j', async (id) => {
    const answer = await ask(at.url, `/core/v1/${key}/nft-api/refresh/${id}`);
    expect(answer.json()).toMatchObject({ status: 404, reason: 'job-unknown' });
  });
});

it('is in the OpenAPI document, and no key is in the log', async () => {
  const { paths } = (await ask(at.url, '/openapi.json')).json() as { paths: Record<string, object> };
  expect(paths['/{key}/nft-api/refresh']).toHaveProperty('put.responses.202');
  expect(paths['/{key}/nft-api/refresh/{job_id}']).toHaveProperty('get.responses.200');
  expect(at.log.join('')).not.toContain(key.slice(12));
});
