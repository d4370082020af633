import { contractAt, userAt } from '@packhouse/replay-node';
import fc from 'fast-check';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ask } from '../testing/ask.js';
import { type NftPlace, type NftScene, useNftStage } from '../testing/nft-stage.js';

const stage = useNftStage();
const { put } = stage;
let at: NftPlace['at'];
let node: NftPlace['node'];
let key: NftPlace['key'];
let anyKey: NftPlace['anyKey'];
let contracts: NftScene['contracts'];

beforeAll(() => {
  ({ at, node, key, anyKey } = stage.place());
});
beforeEach(() => {
  ({ contracts } = stage.scene());
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
      /unknown field/,
    ],
    ['a field that every object has', '{"__proto__":{}}', 400, 'request-malformed', /unknown field/],
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
      /not a contract/,
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

  it('whatever else a body may hold, with a sentence and never with 500', async () => {
    const value = fc.oneof(fc.constantFrom(ADDRESS, userAt(1), '0x1', null), fc.string(), fc.jsonValue());
    const body = fc.oneof(
      fc
        .dictionary(fc.constantFrom('contractAddress', 'ownerAddress', 'tokenId', 'x'), value)
        .map((fields) => JSON.stringify(fields)),
      fc.json(),
      fc.string({ unit: 'binary' }),
    );
    await fc.assert(
      fc.asyncProperty(body, async (text) => {
        const answer = await put(text);
        if (answer.status !== 202) expect([400, 413]).toContain(answer.status);
      }),
      { numRuns: 300 },
    );
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
