import { abiString, contractAt, userAt } from '@packhouse/replay-node';
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { ask } from '../testing/ask.js';
import { type NftPlace, type NftScene, useNftStage } from '../testing/nft-stage.js';

const stage = useNftStage();
const { put, look, done, refreshed, stored } = stage;
let at: NftPlace['at'];
let node: NftPlace['node'];
let key: NftPlace['key'];
let contracts: NftScene['contracts'];
let pages: NftScene['pages'];
let visited: NftScene['visited'];
let contract: NftScene['contract'];

beforeAll(() => {
  ({ at, node, key } = stage.place());
});
beforeEach(() => {
  ({ contracts, pages, visited, contract } = stage.scene());
});

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
      target: { contractAddress: contract, tokenId: '0xff' },
      found: 1,
      complete: true,
      next: null,
      tokens: [{ contractAddress: contract, tokenId: '0xff', outcome: 'indexed', refreshed: true }],
    });
    expect(end.counts).toMatchObject({ indexed: 1, waiting: 0, unreachable: 0 });
    expect(await stored('0xff')).toMatchObject({
      outcome: 'indexed',
      standard: 'erc721',
      uri: 'http://a.example/meta/255',
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
      ['0x7', '0x6', '0x5'],
      ['0x4', '0x3', '0x2'],
      ['0x1'],
    ]);
    expect(third.next).toBeNull();
    expect(visited).toHaveLength(7);
  });

  it('of an owner finds what the owner has now', async () => {
    const [me, other] = [userAt(1), userAt(9_999)];
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
    const answers: NftScene['pages'] = {
      '/404': (__, response) => response.writeHead(404).end('{}'),
      '/429': (__, response) => response.writeHead(429).end('{}'),
      '/large': (__, response) => response.end(Buffer.alloc(1_048_577, ' ')),
      '/html': (__, response) => response.end('<html>secret</html>'),
      '/list': (__, response) => response.end('[1]'),
      '/latin1': (__, response) => response.end(Buffer.from('{"a":"\xe9"}', 'latin1')),
    };
    Object.assign(pages, answers);
    const { url: _url, ...end } = await refreshed({ contractAddress: contract, tokenId: '0x1' });
    expect(end.tokens).toMatchObject([{ outcome }]);
    expect(end.counts[outcome]).toBe(1);
    // Neither the fetched bytes nor the text of a socket error reach the caller.
    expect(JSON.stringify(end)).not.toMatch(/secret|ECONN|93\.184|127\.0/);
    expect((await stored('0x1'))?.metadata ?? null).toBe(outcome === 'indexed' ? '{"a":1}' : null);
  });

  it('ends as missing_token at a contract of no tokens, and where the token is none', async () => {
    contracts.add({ contract, id: 1n, uri: 'http://a.example/1', standard: 'none' });
    expect((await refreshed({ contractAddress: contract, tokenId: '0x1' })).counts.missing_token).toBe(1);
    const other = contractAt(10_000);
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
    const [me, spam] = [userAt(1), contractAt(30_000)];
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
    const failures = () => at.log.some((line) => line.includes('no node answers for a refresh job'));
    await vi.waitFor(() => expect(failures()).toBe(true), { timeout: 60_000 });
    expect((await look(url)).counts).toMatchObject({ waiting: 1 });
    down = false;
    expect(jobId).toHaveLength(16);
    expect((await done(url)).counts).toMatchObject({ indexed: 1 });
  });
});
