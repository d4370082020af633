import type { QueueName } from '@packhouse/queue';
import { PackhouseError } from '@packhouse/runtime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../../testing/ask.js';
import { startTestGateway, type TestGateway } from '../../testing/test-gateway.js';

interface Body {
  range: string;
  page: string;
  next: string | null;
  kinds: {
    kind: string;
    completeThrough: number | null;
    counts: { published: number; missing: Record<string, number> } | null;
    published: string[];
    holes: Record<string, unknown>[];
  }[];
}

describe('GET {base_url}<KEY>/bundle-api/coverage', () => {
  let at: TestGateway;
  let key: string;
  let looks = 0;
  let away = false;
  let held: Promise<void> | undefined;
  /** Ids of the existing jobs, by queue. */
  const jobs: Record<QueueName, { running: string[]; waiting: string[] }> = {
    ingest: { running: ['ethereum.60.69.31', 'other.0.9999.31'], waiting: ['ethereum.70.79.8', 'nonsense'] },
    pack: { running: ['ethereum.logs.100'], waiting: ['ethereum.traces.100'] },
    schedule: { running: [], waiting: [] },
    hook: { running: [], waiting: [] },
  };
  const coverage = (query = '', network = 'ethereum', apiKey = key) =>
    ask(at.url, `/${network}/v1/${apiKey}/bundle-api/coverage${query}`);
  const pages = async (query: string): Promise<Body[]> => {
    const all: Body[] = [];
    for (let next: string | null = ''; next !== null; ) {
      const cursor: string = next === '' ? '' : `&cursor=${next}`;
      const page = (await coverage(`${query}${cursor}`)).json() as unknown as Body;
      all.push(page);
      next = page.next;
    }
    return all;
  };

  beforeAll(async () => {
    at = await startTestGateway({
      queue: {
        peek: async (queue) => {
          looks += 1;
          await held;
          if (away) throw new PackhouseError({ code: 'QUEUE_UNAVAILABLE', message: 'The queue is gone.' });
          return jobs[queue];
        },
        close: async () => undefined,
      },
    });
    ({ key } = await at.makeKey());
    const { database } = at;
    await database.network('ethereum').head.set({
      number: 199,
      hash: `0x${'0'.repeat(64)}`,
      finalized: 149,
    });
    const want = (from: number, to: number | null) =>
      database.network('ethereum').backfills.add({
        kinds: ['blocks', 'logs'],
        from,
        to,
        priority: 1,
      });
    await want(10, 19);
    await database.backfills.change((await want(20, 29)).id, { state: 'cancelled' });
    await database.backfills.change((await want(30, 39)).id, { state: 'paused' });
    await want(40, null);
    await at.stage(10, 19);
    await at.publish(10, 19);
    await at.stage(100, 119);
    await at.publish(110, 119, ['blocks']);
    await at.stage(190, 194);
    await database.network('ethereum').quarantine.put({
      firstBlock: 50,
      lastBlock: 54,
      kinds: ['logs'],
      cause: 'PROOF_FAILED',
      message: 'node-1 lied: secret',
      upstream: 'node-1',
      payloadDigest: null,
    });
  });
  afterAll(() => at.close());

  it('answers published ranges and every hole with its reason and what it needs', async () => {
    const answer = await coverage('?kind=logs&to=209');
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toMatch(/^application\/json/);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.headers['ratelimit-limit']).toBeDefined();
    const body = answer.json() as unknown as Body;
    expect(body).toMatchObject({
      network: 'ethereum',
      head: 199,
      finalized: 149,
      completeThrough: 19,
      range: '0-209',
      page: '0-209',
      next: null,
      queueSeen: true,
    });
    const [logs] = body.kinds;
    expect(logs).toMatchObject({ kind: 'logs', completeThrough: 19, published: ['10-19'] });
    expect(logs?.holes.map(({ range, reason, staged }) => [range, reason, staged])).toEqual([
      ['0-9', 'not-requested', false],
      ['20-29', 'cancelled', false],
      ['30-39', 'paused', false],
      ['40-49', 'waiting', false],
      ['50-54', 'quarantined', false],
      ['55-59', 'waiting', false],
      ['60-69', 'fetching', false],
      ['70-79', 'queued', false],
      ['80-99', 'waiting', false],
      ['100-119', 'packing', true],
      ['120-149', 'waiting', false],
      ['150-189', 'not-finalized', false],
      ['190-194', 'not-finalized', true],
      ['195-199', 'not-finalized', false],
      ['200-209', 'not-produced', false],
    ]);
    expect(logs?.holes[4]).toEqual({
      range: '50-54',
      blocks: 5,
      reason: 'quarantined',
      staged: false,
      cause: 'PROOF_FAILED',
      attempts: 1,
      firstSeen: expect.stringMatching(/^20\d\d-.*Z$/),
      nextTry: expect.stringMatching(/^20\d\d-.*Z$/),
      needs: expect.stringMatching(/^it failed once with PROOF_FAILED, and the next try is due at 20/),
    });
    expect(answer.text).not.toContain('node-1');
    expect(logs?.counts).toEqual({
      published: 10,
      missing: {
        'not-requested': 10,
        cancelled: 10,
        paused: 10,
        waiting: 65,
        quarantined: 5,
        fetching: 10,
        queued: 10,
        packing: 20,
        'not-finalized': 50,
        'not-produced': 10,
      },
    });
  });

  it('shows all kinds side by side, up to the head, where they disagree', async () => {
    const body = (await coverage('?from=95')).json() as unknown as Body;
    expect(body).toMatchObject({ range: '95-199', page: '95-199', next: null });
    const holes = Object.fromEntries(
      body.kinds.map(({ kind, published, holes: found }) => [
        kind,
        [...published, ...found.map(({ range, reason }) => `${range} ${reason}`)].slice(0, 3),
      ]),
    );
    expect(holes).toEqual({
      blocks: ['110-119', '95-99 waiting', '100-109 staged'],
      transactions: ['95-99 not-requested', '100-119 staged', '120-189 not-requested'],
      receipts: ['95-99 not-requested', '100-119 staged', '120-189 not-requested'],
      logs: ['95-99 waiting', '100-119 packing', '120-149 waiting'],
      traces: ['95-99 not-requested', '100-119 staged', '120-189 not-requested'],
    });
  });

  it('is asked for at most twice at once by a key; others are not held up', async () => {
    const other = (await at.makeKey()).key;
    let go = (): void => undefined;
    held = new Promise<void>((resolve) => {
      go = resolve;
    });
    at.time.offset += 5_000;
    const asking = [1, 2, 3, 4].map((from) => coverage(`?from=${from}`));
    asking.push(coverage('?from=5', 'ethereum', other));
    const statuses: number[] = [];
    for (const one of asking) void one.then(({ status }) => statuses.push(status));
    await expect.poll(() => statuses).toEqual([429, 429]);
    go();
    const answers = await Promise.all(asking);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 429, 429]);
    expect(answers.find(({ status }) => status === 429)?.headers['retry-after']).toBe('1');
    expect((await coverage('?from=6')).status).toBe(200);
  });

  it('is answered a page at a time, which together are the whole', async () => {
    const whole = (await coverage('?kind=logs&to=209')).json() as unknown as Body;
    const parts = await pages('?kind=logs&to=209&limit=2');
    expect(parts.length).toBeGreaterThan(6);
    expect(parts.flatMap(({ kinds }) => kinds[0]?.holes)).toEqual(whole.kinds[0]?.holes);
    for (const [before, page] of parts.slice(1).map((page, i) => [parts[i] as Body, page] as const)) {
      expect(page.page.split('-')[0]).toBe(before.next);
      expect(page.kinds[0]?.counts).toBeNull();
    }
    expect(parts[0]?.kinds[0]?.counts).toEqual(whole.kinds[0]?.counts);
    // For all kinds, a page ends at the block where the first kind is full.
    const all = await pages('?limit=1');
    expect(new Set(all.flatMap(({ kinds }) => kinds.map(({ holes }) => holes.length <= 1)))).toEqual(
      new Set([true]),
    );
    expect(all.at(-1)).toMatchObject({ next: null, page: expect.stringMatching(/-199$/) });
  });

  it('answers the same to everybody for a second, and asks anew then', async () => {
    at.time.frozenAt = Date.now() + 10_000;
    const before = looks;
    await Promise.all(Array.from({ length: 20 }, () => coverage('?kind=traces')));
    expect(looks - before).toBe(2);
    const first = (await coverage('?kind=traces')).text;
    await at.database.network('ethereum').head.set({
      number: 198,
      hash: `0x${'0'.repeat(64)}`,
      finalized: 149,
    });
    expect((await coverage('?kind=traces')).text).toBe(first);
    at.time.frozenAt += 1_000;
    expect((await coverage('?kind=traces')).json()).toMatchObject({ head: 198, range: '0-198' });
    expect(looks - before).toBe(4);
    await at.database.network('ethereum').head.set({
      number: 199,
      hash: `0x${'0'.repeat(64)}`,
      finalized: 149,
    });
    at.time.frozenAt = null;
    at.time.offset += 20_000;
  });

  it('answers without the queue, which only knows what is waiting from what is worked at', async () => {
    away = true;
    at.time.offset += 1_000;
    const body = (await coverage('?kind=logs&from=60&to=119')).json() as unknown as Body;
    away = false;
    at.time.offset += 1_000;
    expect(body).toMatchObject({ queueSeen: false });
    expect(body.kinds[0]?.holes.map(({ range, reason }) => [range, reason])).toEqual([
      ['60-99', 'waiting'],
      ['100-119', 'staged'],
    ]);
  });

  it('says that fetching is held back while the staging area is full', async () => {
    await at.database.network('ethereum').pressure.note({ stagedBytes: 2, limitBytes: 1 });
    at.time.offset += 1_000;
    const body = (await coverage('?kind=logs&from=80&to=99')).json() as unknown as Body;
    await at.database.network('ethereum').pressure.clear();
    at.time.offset += 1_000;
    expect(body.kinds[0]?.holes).toMatchObject([{ range: '80-99', reason: 'throttled' }]);
  });

  it('a pointer to an absent block gives the same reason', async () => {
    const pointer = async (block: number) =>
      (await ask(at.url, `/ethereum/v1/${key}/bundle-api/logs/${block}`)).json();
    for (const [block, holeReason] of [
      [5, 'not-requested'],
      [25, 'cancelled'],
      [35, 'paused'],
      [45, 'waiting'],
      [65, 'fetching'],
      [75, 'queued'],
      [160, 'not-finalized'],
    ] as const) {
      expect(await pointer(block)).toMatchObject({
        status: 404,
        reason: 'not-covered',
        holeReason,
        quarantined: false,
      });
    }
    const held = await pointer(52);
    expect(held).toMatchObject({
      status: 404,
      reason: 'not-covered',
      holeReason: 'quarantined',
      quarantined: true,
      cause: 'PROOF_FAILED',
      attempts: 1,
      coverage: { below: '10-19', above: '100-100' },
    });
    expect(held.detail).toMatch(
      /^Block 52 of ethereum is not covered for logs \(quarantined: it failed once with PROOF_FAILED, and the next try is due at .*Z\); the nearest covered range below is 10-19, above 100-100\.$/,
    );
    expect((await pointer(205)).reason).toBe('not-produced');
  });

  it('a plan sees as far as it includes, and is refused beyond that', async () => {
    const free = await at.makeKey('free');
    await at.database.network('hosted').head.set({
      number: 4_000_000,
      hash: `0x${'0'.repeat(64)}`,
      finalized: 4_000_000,
    });
    const hosted = (query: string) =>
      ask(at.url, `/v1/${free.key}/bundle-api/coverage${query}`, { headers: { host: 'hosted.example.com' } });
    expect((await hosted('')).json()).toMatchObject({
      head: 4_000_000,
      range: '0-3000000',
      page: '0-3000000',
    });
    for (const query of ['?from=3000001', '?to=3000001', '?from=1&to=4000000']) {
      const refused = await hosted(query);
      expect(refused.status, query).toBe(403);
      expect(refused.json()).toMatchObject({ reason: 'plan-limit', plan: 'free', maxBlock: 3_000_000 });
    }
    expect((await hosted('?from=3000000&to=3000000')).status).toBe(200);
  });

  it.each([
    ['?kind=uncles', 404, 'kind-unknown'],
    ['?kind=', 404, 'kind-unknown'],
    ['?from=0x10', 400, 'block-number-invalid'],
    ['?from=-1', 400, 'block-number-invalid'],
    ['?to=latest', 400, 'block-number-invalid'],
    ['?to=', 400, 'block-number-invalid'],
    ['?to=9007199254740992', 400, 'block-number-invalid'],
    ['?from=10&to=9', 400, 'query-invalid'],
    ['?limit=0', 400, 'query-invalid'],
    ['?limit=5001', 400, 'query-invalid'],
    ['?limit=1e3', 400, 'query-invalid'],
    ['?cursor=abc', 400, 'query-invalid'],
    ['?from=10&to=20&cursor=21', 400, 'query-invalid'],
    ['?from=10&cursor=9', 400, 'query-invalid'],
    ['?kind=logs&kind=blocks', 400, 'query-invalid'],
    ['?kinds=logs', 400, 'query-invalid'],
    ['?%00=1', 400, 'query-invalid'],
  ])('refuses %s with %i %s', async (query, status, reason) => {
    const answer = await coverage(query);
    expect(answer.json()).toMatchObject({ status, reason });
    expect(answer.status).toBe(status);
    expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/);
  });

  it('refuses a cursor behind the end that the head gave', async () => {
    expect((await coverage('?cursor=5000')).json()).toMatchObject({ status: 400, reason: 'query-invalid' });
  });

  it('needs a key, a network and bundles', async () => {
    expect((await coverage('', 'ethereum', 'ph_nobodyXX')).status).toBe(401);
    expect((await coverage('', 'quiet')).json()).toMatchObject({
      status: 404,
      reason: 'network-without-bundles',
    });
    expect((await coverage('?kind=logs', 'quiet')).json()).toMatchObject({
      reason: 'network-without-bundles',
    });
    expect((await coverage('?kind=traces', 'logsonly')).json()).toMatchObject({ reason: 'kind-not-enabled' });
    expect((await coverage('', 'nowhere')).json()).toMatchObject({ reason: 'network-unknown' });
    const post = await ask(at.url, `/ethereum/v1/${key}/bundle-api/coverage`, { method: 'POST' });
    expect(post.status).toBe(405);
  });

  it('of a network of which nothing is known yet is one hole', async () => {
    expect((await coverage('', 'logsonly')).json()).toMatchObject({
      head: null,
      finalized: null,
      completeThrough: null,
      range: '0-0',
      kinds: [{ kind: 'logs', published: [], holes: [{ range: '0-0', reason: 'not-produced' }] }],
    });
  });
});
