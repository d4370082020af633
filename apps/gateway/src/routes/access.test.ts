import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../testing/ask.js';
import { startTestGateway, type TestGateway } from '../testing/test-gateway.js';

describe('access to pointers and files', () => {
  let at: TestGateway;
  const pointer = (key: string, block: number | string = 100, network = 'ethereum') =>
    ask(at.url, `/${network}/v1/${key}/bundle-api/blocks/${block}`);
  const file = (key: string, name = '100-104') =>
    ask(at.url, `/ethereum/files/blocks/${name}.json.gz`, { headers: { authorization: `Bearer ${key}` } });

  beforeAll(async () => {
    at = await startTestGateway();
    await at.stage(100, 104);
    await at.publish(100, 104);
    await at.stage(2_999_999, 3_000_001);
    await at.publish(2_999_999, 3_000_000, ['blocks']);
  });
  afterAll(() => at.close());

  it('answers one and the same 401 to a missing, a malformed and an unknown key', async () => {
    const unknown = `ph_abcdefgh_${'A'.repeat(43)}`;
    const answers = [
      await ask(at.url, '/ethereum/v1/bundle-api/blocks/100'),
      await ask(at.url, '/ethereum/v1//bundle-api/blocks/100'),
      await pointer('nonsense'),
      await pointer('%00'),
      await pointer(unknown),
      await ask(at.url, '/ethereum/files/blocks/100-104.json.gz'),
      await ask(at.url, '/ethereum/files/blocks/100-104.json.gz', {
        headers: { authorization: 'Basic eDp5' },
      }),
      await file('nonsense'),
      await file(unknown),
    ];
    for (const answer of answers) {
      expect(answer.status).toBe(401);
      expect(answer.headers['www-authenticate']).toBe('Bearer realm="packhouse"');
    }
    const texts = answers.map((answer) => JSON.stringify({ ...answer.json(), requestId: '' }));
    expect(new Set(texts).size).toBe(1);
  });

  it('answers 403 to a key of another network, and lets it in at its own', async () => {
    const { key } = await at.makeKey('unlimited', 'logsonly');
    const answer = await pointer(key);
    expect(answer.status).toBe(403);
    expect(answer.json()).toMatchObject({ reason: 'forbidden', code: -32001 });
    expect((await file(key)).json().reason).toBe('forbidden');
    await at.stage(5, 5, { network: 'logsonly', kinds: ['logs'] });
    expect((await ask(at.url, `/logsonly/v1/${key}/bundle-api/logs/5`)).status).toBe(200);
  });

  it('answers 403 to a key that was revoked, within a second, in pointers and files', async () => {
    const { key, row } = await at.makeKey();
    expect((await pointer(key)).status).toBe(200);
    await at.database.keys.revoke(row.prefix);
    at.time.offset += 1_000;
    for (const answer of [await pointer(key), await file(key)]) {
      expect(answer.json()).toMatchObject({ status: 403, reason: 'forbidden' });
      expect(answer.json().detail).toContain('revoked');
    }
  });

  it('takes the old secret of a rotated key as long as it overlaps, counts both as one key, and applies an edit within a second', async () => {
    const { key, row } = await at.makeKey();
    const rotated = await at.database.keys.rotate(row, 3_600_000);
    const next = rotated?.key as string;
    expect(next.slice(0, 11)).toBe(key.slice(0, 11));
    expect([(await pointer(key)).status, (await pointer(next)).status]).toEqual([200, 200]);
    const used = async () => (await at.database.keys.named(row.prefix))?.lastUsedAt ?? null;
    await expect.poll(used).not.toBeNull();
    await at.database.keys.change(row.id, (before) => ({ ...before, plan: 'free', methods: ['eth_call'] }));
    at.time.offset += 1_000;
    expect((await pointer(next)).json()).toMatchObject({ status: 403, reason: 'forbidden' });
    await at.database.keys.change(row.id, (before) => ({ ...before, plan: 'free', methods: [] }));
    // Without an overlap the last secret ends at once, and the one before it too.
    const last = await at.database.keys.rotate(row, 0);
    at.time.offset += 1_000;
    expect((await pointer(last?.key as string)).status).toBe(200);
    for (const old of [key, next]) expect((await pointer(old)).status).toBe(401);
    await at.database.keys.revoke(row.prefix);
    expect(await at.database.keys.rotate(row, 0)).toBeNull();
  });

  it('answers 403 to a key as soon as it expires', async () => {
    const { key } = await at.makeKey('unlimited', null, new Date(at.context.clock.now() + 60_000));
    expect((await pointer(key)).status).toBe(200);
    at.time.offset += 60_000;
    expect((await pointer(key)).json().detail).toContain('expired');
  });

  it('answers 403 above block 3,000,000 on the free plan, in pointers and files alike', async () => {
    const { key } = await at.makeKey('free');
    expect((await pointer(key, 3_000_000)).status).toBe(200);
    const answer = await pointer(key, 3_000_001);
    expect(answer.status).toBe(403);
    expect(answer.json()).toMatchObject({
      reason: 'plan-limit',
      code: -32005,
      plan: 'free',
      maxBlock: 3_000_000,
      requested: 3_000_001,
    });
    expect((await file(key, '2999999-3000000')).status).toBe(200);
    expect((await file(key, '3000001-3000001')).json()).toMatchObject({ status: 403, reason: 'plan-limit' });
    const { key: standard } = await at.makeKey('standard');
    expect((await file(standard, '3000001-3000001')).status).toBe(200);
  });

  it('hands out the block alone where its bundle reaches beyond the plan', async () => {
    await at.publish(2_999_999, 3_000_001, ['receipts']);
    const rangeFor = async (plan: string): Promise<unknown> => {
      const { key } = await at.makeKey(plan);
      return (await ask(at.url, `/ethereum/v1/${key}/bundle-api/receipts/3000000`)).json().range;
    };
    expect(await rangeFor('free')).toBe('3000000-3000000');
    expect(await rangeFor('standard')).toBe('2999999-3000001');
  });

  it('tells every key what is left, and answers 429 with Retry-After when nothing is', async () => {
    const { key } = await at.makeKey('free');
    at.time.frozenAt = Date.now();
    const statuses: number[] = [];
    for (let n = 0; n < 26; n++) {
      const answer = await pointer(key);
      statuses.push(answer.status);
      expect(answer.headers).toMatchObject({
        'ratelimit-limit': '25',
        'ratelimit-remaining': String(Math.max(0, 24 - n)),
        'ratelimit-reset': '1',
      });
      if (n < 25) continue;
      expect(answer.headers['retry-after']).toBe('1');
      expect(answer.json()).toMatchObject({
        reason: 'rate-limited',
        code: -32005,
        retryAfter: 1,
        plan: 'free',
      });
    }
    expect(statuses).toEqual([...Array(25).fill(200), 429]);
    at.time.offset += 1_000;
    expect((await file(key)).headers['ratelimit-remaining']).toBe('24');
    at.time.frozenAt = null;
  });
});
