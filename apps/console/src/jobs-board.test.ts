import { redisInstalled, startRedis } from '@packhouse/local';
import { createQueues } from '@packhouse/queue';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useConsole } from './testing/use-console.js';

const ingest = {
  id: 'window-0',
  payload: { network: 'main', firstBlock: 100, lastBlock: 199, kinds: ['blocks'], owner: 'ada' },
  priority: 5,
} as const;
const QUEUES = ['ingest', 'pack', 'schedule', 'hook'].map((displayName) => ({ displayName }));

describe('the board of jobs, on Postgres', () => {
  const on = useConsole();

  test('says that there are no queues yet, and shows them once there are', async () => {
    const headers = await on.token('viewer');
    const away = await on.ask({ url: '/jobs/api/queues', headers });
    expect(away.statusCode).toBe(503);
    expect(away.json()).toMatchObject({ error: { code: 'QUEUE_UNAVAILABLE' } });

    const queues = await createQueues({ databaseUrl: on.databaseUrl, context: on.context });
    await queues.add('ingest', [ingest]);
    await queues.close();
    const [shown, ...more] = (await on.ask({ url: '/jobs/api/queues', headers })).json().queues;
    expect(more).toHaveLength(QUEUES.length - 1);
    const url = `/jobs/api/queues?activeQueue=${shown.name}&jobsPerPage=1000000x`;
    const answer = await on.ask({ url, headers });
    expect(answer.headers['cache-control']).toBe('no-store');
    const { queues: listed } = answer.json();
    expect(listed).toMatchObject(QUEUES);
    expect(listed[0]).toMatchObject({ readOnlyMode: true, counts: { prioritized: 1 } });
    expect(listed[0].jobs).toMatchObject([{ id: 'j-window-0', data: ingest.payload }]);
    expect(listed[0].pagination.range.end).toBe(99);
    const job = await on.ask({ url: `/jobs/api/queues/${shown.name}/j-window-0`, headers });
    expect(job.json()).toMatchObject({ job: { data: ingest.payload } });
    for (const path of ['redis/stats', 'job-schedulers', `queues/${shown.name}/j-window-0/flow`]) {
      expect((await on.ask({ url: `/jobs/api/${path}`, headers })).statusCode, path).toBe(200);
    }
  });

  test('removes keys of nodes', async () => {
    const queues = await createQueues({ databaseUrl: on.databaseUrl, context: on.context });
    const payload = { ...ingest.payload, owner: 'https://node.example/v3/0123456789abcdef' };
    await queues.add('ingest', [{ ...ingest, id: 'window-1', payload }]);
    await queues.close();
    const headers = await on.token('viewer');
    for (const api of ['api', '%61pi']) {
      const url = `/jobs/${api}/queues/packhouse-ingest/j-window-1`;
      const { job } = (await on.ask({ url, headers })).json();
      expect(job.data).toEqual({ ...payload, owner: 'https://node.example/***' });
    }
  });

  test('is a page that loads nothing from elsewhere, and other pages keep their policy', async () => {
    const headers = await on.token('viewer');
    for (const url of ['/jobs', '/jobs/', '/jobs/queue/packhouse-ingest']) {
      const page = await on.ask({ url, headers });
      expect(page.statusCode, url).toBe(200);
      expect(page.body).toContain('<base href="/jobs/" />');
      expect(page.headers['content-security-policy']).toMatch(/^default-src 'self'; .*base-uri 'self'/);
      expect(page.headers['content-security-policy']).not.toContain('http');
    }
    const [, script] =
      /src="(static\/js\/main[^"]+)"/.exec((await on.ask({ url: '/jobs/', headers })).body) ?? [];
    expect((await on.ask({ url: `/jobs/${script}`, headers })).headers['content-type']).toContain(
      'javascript',
    );
    const own = (await on.ask({ url: '/api/session', headers })).headers['content-security-policy'];
    expect(own).toContain("base-uri 'none'");
    expect(own).not.toContain('script-src');
  });

  test.each(['/jobs', '/jobs/', '/jobs/api/queues', '/jobs/static/favicon.ico', '/jobs/nothing'])(
    '%s is for those who are signed in',
    async (url) => {
      const refused = await on.ask({ url });
      expect(refused.statusCode).toBe(401);
      expect(refused.json()).toMatchObject({ error: { code: 'SIGN_IN_REQUIRED' } });
    },
  );

  test('changes nothing, not even for an admin', async () => {
    const headers = await on.token('admin');
    for (const [method, url] of [
      ['POST', '/jobs/api/queues/packhouse-ingest/add'],
      ['PUT', '/jobs/api/queues/packhouse-ingest/pause'],
      ['PUT', '/jobs/api/queues/packhouse-ingest/obliterate'],
      ['PATCH', '/jobs/api/queues/packhouse-ingest/j-window-0/update-data'],
      ['DELETE', '/jobs/api/queues/packhouse-ingest/j-window-0'],
    ] as const) {
      const refused = await on.ask({ method, url, headers, payload: {} });
      expect(refused.statusCode, url).toBe(404);
      expect(refused.json(), url).toMatchObject({ error: { code: 'PAGE_UNKNOWN' } });
    }
    expect((await on.ask({ url: '/jobs/nothing', headers })).statusCode).toBe(404);
  });

  test('is not for holders of keys', async () => {
    const { key } = await on.database.keys.create({ application: 'app', network: null, plan: 'free' });
    const signedIn = await on.ask({ method: 'POST', url: '/api/sign-in', payload: { key } });
    const cookie = String(signedIn.headers['set-cookie']).split(';')[0] ?? '';
    expect((await on.ask({ url: '/jobs/api/queues', headers: { cookie } })).statusCode).toBe(403);
  });
});

const present = redisInstalled();
describe.skipIf(!present)(`the board of jobs, on Redis${present ? '' : ' (needs redis-server)'}`, () => {
  let redis: Awaited<ReturnType<typeof startRedis>>;
  beforeAll(async () => {
    redis = await startRedis();
  });
  const on = useConsole({ redisUrl: () => redis.url });
  afterAll(() => redis.stop());

  test('shows the queues', async () => {
    const queues = await createQueues({ redisUrl: redis.url, context: on.context });
    await queues.add('ingest', [ingest]);
    await queues.close();
    const headers = await on.token('viewer');
    const { queues: listed } = (await on.ask({ url: '/jobs/api/queues?activeQueue=ingest', headers })).json();
    expect(listed).toMatchObject(QUEUES);
    expect(listed[0].jobs).toMatchObject([{ id: 'j-window-0', data: ingest.payload }]);
    expect((await on.ask({ url: '/jobs/api/redis/stats', headers })).statusCode).toBe(200);
  });
});
