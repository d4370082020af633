import { KINDS } from '@packhouse/chain';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Answer, ask } from '../../testing/ask.js';
import { startTestGateway, type TestGateway } from '../../testing/test-gateway.js';

describe('pointers from memory', () => {
  let at: TestGateway;
  let key: string;
  const pointer = (block: string | number, kind = 'blocks', apiKey = key) =>
    `/ethereum/v1/${apiKey}/bundle-api/${kind}/${block}`;
  beforeAll(async () => {
    at = await startTestGateway();
    ({ key } = await at.makeKey());
    await at.stage(0, 12);
    await at.publish(0, 4);
    await at.publish(5, 9, ['blocks', 'logs']);
    // Every page is in memory as soon as Postgres is asked no more.
    const kept = at.database.network('ethereum');
    const { locate } = kept;
    const asked = vi.fn(locate);
    kept.locate = asked;
    for (const kind of KINDS) {
      await vi.waitFor(
        async () => {
          asked.mockClear();
          expect((await ask(at.url, pointer(3, kind))).status).toBe(200);
          expect(asked).not.toHaveBeenCalled();
        },
        { timeout: 30_000 },
      );
    }
    kept.locate = locate;
  });
  afterAll(() => at.close());

  it('logs a pointer like all others', async () => {
    const before = at.log.length;
    const answer = await ask(at.url, pointer(7));
    expect(answer.json()).toMatchObject({ range: '5-9' });
    const lines = at.log.slice(before).map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines).toEqual([
      expect.objectContaining({
        route: 'pointer',
        network: 'ethereum',
        kind: 'blocks',
        status: 200,
        bytes: answer.body.length,
        key: key.slice(0, 11),
        requestId: expect.stringMatching(/^[0-9a-f]{8}-\d+$/),
      }),
    ]);
  });

  it.each<[string, () => string, number, object]>([
    ...KINDS.map((kind): [string, () => string, number, object] => [
      `the first block, ${kind}`,
      () => pointer(0, kind),
      200,
      {
        type: kind,
        range: '0-4',
        download_link: expect.stringMatching(`/ethereum/files/${kind}/0-4.json.gz$`),
      },
    ]),
    ['the last block of a bundle', () => pointer(4), 200, { range: '0-4' }],
    ['the first of the next one', () => pointer(5), 200, { range: '5-9' }],
    ['another kind', () => pointer(9, 'logs'), 200, { type: 'logs', range: '5-9' }],
    ['a kind whose block is staged', () => pointer(9, 'traces'), 200, { type: 'traces', range: '9-9' }],
    ['a block that is staged', () => pointer(12), 200, { range: '12-12' }],
    ['a block that is not there', () => pointer(99), 404, { reason: 'not-covered' }],
    ['a leading zero', () => pointer('01'), 400, { reason: 'block-number-invalid' }],
    ['a sign', () => pointer('-1'), 400, { reason: 'block-number-invalid' }],
    ['too many digits', () => pointer('9'.repeat(16)), 400, { reason: 'block-number-invalid' }],
    ['an unknown kind', () => pointer(1, 'uncles'), 404, { reason: 'kind-unknown' }],
    [
      'an unknown key',
      () => pointer(1, 'blocks', `ph_abcdefgh_${'A'.repeat(43)}`),
      401,
      { reason: 'unauthenticated' },
    ],
    ['no key', () => pointer(1, 'blocks', 'nonsense'), 401, { reason: 'unauthenticated' }],
    ['no network', () => `/nowhere/v1/${key}/bundle-api/blocks/1`, 404, { reason: 'network-unknown' }],
    [
      'a network without bundles',
      () => `/quiet/v1/${key}/bundle-api/blocks/1`,
      404,
      { reason: 'network-without-bundles' },
    ],
    [
      'a network without the kind',
      () => `/logsonly/v1/${key}/bundle-api/blocks/1`,
      404,
      { reason: 'kind-not-enabled' },
    ],
    ['a host of no network', () => `/v1/${key}/bundle-api/blocks/1`, 404, { reason: 'path-unknown' }],
  ])('answers %s, with a query or without', async (_, getPath, status, body) => {
    for (const path of [getPath(), `${getPath()}?any`]) {
      const answer = await ask(at.url, path);
      expect([answer.status, answer.json()]).toMatchObject([status, body]);
      expect(answer.headers['content-type']).toBe(
        status === 200 ? 'application/json; charset=utf-8' : 'application/problem+json; charset=utf-8',
      );
      expect(answer.headers['content-length']).toBe(String(answer.body.length));
      expect(answer.headers['cache-control']).toBe('no-store');
      if (status !== 200) expect(answer.headers['x-request-id']).toBe(answer.json().requestId);
      if (status === 401) expect(answer.headers['ratelimit-limit']).toBeUndefined();
      else expect(answer.headers).toHaveProperty('ratelimit-limit');
    }
  });

  it('counts its requests against the plan, down to the refusal', async () => {
    const { key: free } = await at.makeKey('free');
    at.time.frozenAt = Date.now();
    const answers: Answer[] = [];
    for (let n = 0; n < 28; n++) answers.push(await ask(at.url, pointer(3, 'blocks', free)));
    at.time.frozenAt = null;
    expect(answers.map((answer) => answer.status)).toEqual([...Array(25).fill(200), 429, 429, 429]);
    expect(answers.map((answer) => answer.headers['ratelimit-remaining'])).toEqual(
      Array.from({ length: 28 }, (_, n) => String(Math.max(0, 24 - n))),
    );
  });

  it('lets no key in that has ended or belongs elsewhere', async () => {
    const { key: ended, row } = await at.makeKey();
    expect((await ask(at.url, pointer(3, 'blocks', ended))).status).toBe(200);
    await at.database.keys.revoke(row.prefix);
    at.time.offset += 1_000;
    expect((await ask(at.url, pointer(3, 'blocks', ended))).status).toBe(403);
    const { key: expiring } = await at.makeKey('unlimited', null, new Date(at.context.clock.now() + 500));
    expect((await ask(at.url, pointer(3, 'blocks', expiring))).status).toBe(200);
    at.time.offset += 500;
    expect((await ask(at.url, pointer(3, 'blocks', expiring))).status).toBe(403);
    const { key: elsewhere } = await at.makeKey('unlimited', 'logsonly');
    for (let n = 0; n < 2; n++) expect((await ask(at.url, pointer(3, 'blocks', elsewhere))).status).toBe(403);
  });

  it('refuses bodies and other methods', async () => {
    const body = await ask(at.url, pointer(3), { body: 'x', headers: { 'content-length': '1' } });
    expect(body.status).toBe(400);
    expect((await ask(at.url, pointer(3), { method: 'POST' })).status).toBe(405);
  });
});
