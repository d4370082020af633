import { KINDS } from '@packhouse/chain';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../../testing/ask.js';
import { hashOf, startTestGateway, type TestGateway } from '../../testing/test-gateway.js';

describe('GET {base_url}<KEY>/bundle-api/<kind>/<block_number>', () => {
  let at: TestGateway;
  let key: string;
  const pointer = (block: string | number, kind = 'blocks', network = 'ethereum', apiKey = key) =>
    ask(at.url, `/${network}/v1/${apiKey}/bundle-api/${kind}/${block}`);

  beforeAll(async () => {
    at = await startTestGateway();
    ({ key } = await at.makeKey());
    await at.stage(1_000, 1_019);
    await at.publish(1_000, 1_009);
    await at.publish(1_010, 1_014);
    await at.database.network('ethereum').head.set({
      number: 5_000,
      hash: `0x${'0'.repeat(64)}`,
      finalized: 4_900,
    });
  });
  afterAll(() => at.close());

  it.each(KINDS)('answers exactly type, range and download_link of an old block: %s', async (kind) => {
    const answer = await pointer(1_004, kind);
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toMatch(/^application\/json/);
    expect(answer.json()).toEqual({
      type: kind,
      range: '1000-1009',
      download_link: `${at.url}/ethereum/files/${kind}/1000-1009.json.gz`,
    });
  });

  it('answers the ranges of neighbouring bundles at their borders', async () => {
    for (const [block, range] of [
      [1_000, '1000-1009'],
      [1_009, '1000-1009'],
      [1_010, '1010-1014'],
      [1_014, '1010-1014'],
    ] as const) {
      expect((await pointer(block)).json().range).toBe(range);
    }
  });

  it('answers n-n for a block that is staged and not yet packed', async () => {
    expect((await pointer(1_017, 'traces')).json()).toEqual({
      type: 'traces',
      range: '1017-1017',
      download_link: `${at.url}/ethereum/files/traces/1017-1017.json.gz?hash=${hashOf(1_017)}`,
    });
  });

  it('answers 410 for a block that a reorganisation removed, until another takes its place', async () => {
    await at.stage(42_000, 42_001);
    await at.database.network('ethereum').staging.abandon(42_001);
    const gone = await pointer(42_001);
    expect(gone.status).toBe(410);
    expect(gone.json()).toMatchObject({
      reason: 'reorganised',
      block: 42_001,
      hash: expect.stringMatching(/^0x/),
    });
    await at.stage(42_001, 42_001, { branch: 'b' });
    expect((await pointer(42_001)).status).toBe(200);
    await at.database.network('ethereum').staging.abandon(42_000);
  });

  it('answers the new range as soon as a bundle is published', async () => {
    expect((await pointer(2_000)).status).toBe(404);
    await at.stage(2_000, 2_005, { group: 3 });
    expect((await pointer(2_000)).json().range).toBe('2000-2000');
    await at.publish(2_000, 2_005, ['blocks']);
    expect((await pointer(2_000)).json().range).toBe('2000-2005');
    expect((await pointer(2_003)).json().range).toBe('2000-2005');
    expect((await pointer(2_000, 'logs')).json().range).toBe('2000-2000');
  });

  it.each([
    '-1',
    '+1',
    '0x3e8',
    'latest',
    '1000.5',
    '1e3',
    '01000',
    '9007199254740992',
    '9'.repeat(400),
    '%20',
    '1000%00',
  ])('answers 400 for a block that is no decimal integer: %s', async (block) => {
    const answer = await pointer(block);
    expect(answer.status).toBe(400);
    expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/);
    expect(answer.json()).toMatchObject({ status: 400, reason: 'block-number-invalid', code: -32602 });
  });

  it('answers 404 beyond the head, and says where the head is', async () => {
    const answer = await pointer(5_001);
    expect(answer.status).toBe(404);
    expect(answer.json()).toMatchObject({ reason: 'not-produced', head: 5_000, requested: 5_001 });
    expect(answer.json().detail).toContain('block 5000');
    expect((await pointer(Number.MAX_SAFE_INTEGER)).json().reason).toBe('not-produced');
  });

  it('answers 404 for a block that is not covered, and says what is covered around it', async () => {
    const answer = await pointer(1_500);
    expect(answer.status).toBe(404);
    expect(answer.json()).toMatchObject({ reason: 'not-covered', head: 5_000 });
    const { below, above } = answer.json().coverage as { below: string; above: string | null };
    expect(below).toMatch(/-1019$|-1014$/);
    expect(above).toMatch(/^2000-/);
    expect((await pointer(10)).json().coverage).toMatchObject({
      below: null,
      above: expect.stringMatching(/^1000-/),
    });
  });

  it('names the nearest coverage however far it is, and says when a block was held back', async () => {
    await at.database.network('ethereum').head.set({
      number: 900_000,
      hash: `0x${'0'.repeat(64)}`,
      finalized: 4_900,
    });
    expect((await pointer(800_000)).json().coverage).toEqual({
      below: expect.stringMatching(/^2000-2005$|^1000-1019$/),
      above: null,
    });
    await at.database.network('ethereum').backfills.add({
      kinds: ['blocks'],
      from: 1_600,
      to: 1_600,
      priority: 1,
    });
    await at.database.network('ethereum').quarantine.put({
      firstBlock: 1_600,
      kinds: ['blocks'],
      cause: 'PROOF_FAILED',
      message: 'The hash is another one.',
      upstream: null,
      payloadDigest: null,
    });
    const answer = await pointer(1_600);
    expect(answer.json()).toMatchObject({ status: 404, reason: 'not-covered', quarantined: true });
    expect(answer.json().detail).toContain('(quarantined: it failed once with PROOF_FAILED');
  });

  it('says in a header what of the file is not proved, staged, published and from memory', async () => {
    const because = 'field "x" is new\n to this version';
    await at.stage(6_000, 6_003, { notProved: [{ proof: 'receiptsRoot', because }] });
    const expected = 'receiptsRoot; because="field ?x? is new? to this version"';
    expect((await pointer(6_000)).headers['packhouse-not-proved']).toBe(expected);
    await at.publish(6_000, 6_003);
    for (let times = 0; times < 3; times += 1) {
      expect((await pointer(6_002)).headers['packhouse-not-proved']).toBe(expected);
    }
    expect((await pointer(1_004)).headers['packhouse-not-proved']).toBeUndefined();
  });

  it('answers 404 for a kind that does not exist or that the network does not have', async () => {
    expect((await pointer(1_000, 'uncles')).json()).toMatchObject({
      status: 404,
      reason: 'kind-unknown',
      kinds: KINDS,
    });
    expect((await pointer(1_000, 'Blocks')).json().reason).toBe('kind-unknown');
    expect((await pointer(1_000, 'traces', 'logsonly')).json()).toMatchObject({
      status: 404,
      reason: 'kind-not-enabled',
      kinds: ['logs'],
    });
  });

  it('answers 404 on a network without bundles and on one that does not exist', async () => {
    expect((await pointer(1, 'blocks', 'quiet')).json()).toMatchObject({
      status: 404,
      reason: 'network-without-bundles',
    });
    const unknown = await pointer(1, 'blocks', 'nowhere');
    expect(unknown.json()).toMatchObject({ status: 404, reason: 'network-unknown' });
    expect(unknown.text).not.toContain(key);
  });

  it('serves a network at a host name of its own, whatever its port and case', async () => {
    const path = `/v1/${key}/bundle-api/logs/7`;
    await at.stage(7, 7, { network: 'hosted' });
    for (const host of ['hosted.example.com', 'Hosted.Example.com:443']) {
      const answer = await ask(at.url, path, { headers: { host } });
      expect(answer.json(), host).toEqual({
        type: 'logs',
        range: '7-7',
        download_link: `https://files.example.com/logs/7-7.json.gz?hash=${hashOf(7)}`,
      });
    }
    const file = await ask(at.url, '/logs/7-7.json.gz', {
      headers: { host: 'files.example.com', authorization: `Bearer ${key}` },
    });
    expect(file.status).toBe(200);
    expect((await ask(at.url, path)).status).toBe(404);
    expect((await ask(at.url, path, { headers: { host: 'other.example.com' } })).status).toBe(404);
    expect((await ask(at.url, '/healthz', { headers: { host: 'hosted.example.com' } })).status).toBe(200);
  });

  it('answers 405 with Allow to another verb, whatever its body', async () => {
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'PROPFIND']) {
      const answer = await ask(at.url, `/ethereum/v1/${key}/bundle-api/blocks/1000`, {
        method,
        ...(method === 'POST' ? { body: '<x/>', headers: { 'content-type': 'text/xml' } } : {}),
      });
      expect(answer.status, method).toBe(405);
      expect(answer.headers.allow).toBe('GET, HEAD');
      expect(answer.json().reason).toBe('method-not-allowed');
    }
  });
});
