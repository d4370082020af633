import { KINDS } from '@packhouse/chain';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Answer, ask } from '../testing/ask.js';
import { startTestGateway, type TestGateway } from '../testing/test-gateway.js';

describe('the way past the router', () => {
  let at: TestGateway;
  let key: string;
  /** A query string is the router's, so the same request can be sent either way. */
  const both = async (path: string): Promise<{ express: Answer; routed: Answer }> => ({
    express: await ask(at.url, path),
    routed: await ask(at.url, `${path}?routed`),
  });
  const pointer = (block: string | number, kind = 'blocks', apiKey = key) =>
    `/ethereum/v1/${apiKey}/bundle-api/${kind}/${block}`;
  const withoutChange = ({ headers, text, status }: Answer) => ({
    status,
    text: text.replace(/"requestId":"[^"]*"/, ''),
    headers: { ...headers, date: '', 'ratelimit-remaining': '', 'x-request-id': '', 'content-length': '' },
  });

  beforeAll(async () => {
    at = await startTestGateway();
    ({ key } = await at.makeKey());
    await at.stage(0, 12);
    await at.publish(0, 4);
    await at.publish(5, 9, ['blocks', 'logs']);
    // Every page is in memory as soon as Postgres is asked no more.
    const { locate } = at.database;
    const asked = vi.fn(locate);
    at.database.locate = asked;
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
    at.database.locate = locate;
  });
  afterAll(() => at.close());

  it('logs a pointer that comes without the router like all others', async () => {
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

  it('answers as the router does, whatever is asked', async () => {
    const paths = [
      ...KINDS.map((kind) => pointer(0, kind)),
      pointer(4),
      pointer(5),
      pointer(9, 'logs'),
      pointer(9, 'traces'),
      pointer(12),
      pointer(99),
      pointer('01'),
      pointer('-1'),
      pointer('9'.repeat(16)),
      pointer(1, 'uncles'),
      pointer(1, 'blocks', `ph_abcdefgh_${'A'.repeat(43)}`),
      pointer(1, 'blocks', 'nonsense'),
      `/nowhere/v1/${key}/bundle-api/blocks/1`,
      `/quiet/v1/${key}/bundle-api/blocks/1`,
      `/logsonly/v1/${key}/bundle-api/blocks/1`,
      `/v1/${key}/bundle-api/blocks/1`,
    ];
    for (const path of paths) {
      const { express, routed } = await both(path);
      expect(withoutChange(express), path).toEqual(withoutChange(routed));
    }
  });

  it('counts its requests against the plan like all others, down to the refusal', async () => {
    const { key: free } = await at.makeKey('free');
    at.time.frozenAt = Date.now();
    const answers: Answer[] = [];
    for (let n = 0; n < 14; n++) {
      const { express, routed } = await both(pointer(3, 'blocks', free));
      answers.push(express, routed);
    }
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

  it('refuses like the router while the gateway drains, and bodies always', async () => {
    const body = await ask(at.url, pointer(3), { body: 'x', headers: { 'content-length': '1' } });
    expect(body.status).toBe(400);
    expect((await ask(at.url, pointer(3), { method: 'POST' })).status).toBe(405);
  });
});
