import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type OpenDatabase, openDatabase } from '../../testing/open-database.js';
import type { LeasedNftJob, Nft } from './nft.js';

let open: OpenDatabase;
let nft: Nft;
let network: string;
let runs = 0;
beforeAll(async () => {
  open = await openDatabase();
  nft = open.database.nft;
});
afterAll(() => open.close());
beforeEach(() => {
  runs += 1;
  network = `core${runs}`;
});

const NOW = Date.parse('2026-01-01T00:00:00Z');
const MINUTES = 60_000;
const at = (ms = 0) => ({ now: new Date(NOW + ms), recentAfter: new Date(NOW + ms - 15 * MINUTES) });
const HOUR = 3_600_000;

const ask = (target: { contract?: string; owner?: string; tokenId?: string }, more: object = {}) =>
  nft.open({
    id: randomBytes(16),
    network,
    application: 'mine',
    maxOfApplication: 100,
    recentAfter: at().recentAfter,
    contract: target.contract ?? null,
    owner: target.owner ?? null,
    tokenId: target.tokenId ?? null,
    ...more,
  });
const claim = (leaseMs = HOUR, from: Nft = nft) =>
  from.claim({ networks: [network], lease: randomBytes(16), leaseMs }) as Promise<LeasedNftJob>;
const token = { contract: 'c', tokenId: '0x1' };

describe('a job', () => {
  it('is one for its contract, owner or token while it is under way, whoever asks', async () => {
    const first = await ask({ contract: 'c' });
    expect(first).toMatchObject({ status: 'queued', made: true, tokens: null, recent: false });
    const again = await ask({ contract: 'c' }, { application: 'other' });
    expect(again).toMatchObject({ id: first?.id, made: false });
    for (const target of [{ owner: 'c' }, token, { contract: 'd' }]) {
      expect((await ask(target))?.made, JSON.stringify(target)).toBe(true);
    }
    const job = await claim();
    expect(await ask({ contract: 'c' })).toMatchObject({ id: job.id, status: 'running' });
    await nft.end(job, 'unreachable');
    expect((await ask({ contract: 'c' }))?.made).toBe(true);
  });

  it('is made once by many at once', async () => {
    const all = await Promise.all(Array.from({ length: 12 }, () => ask({ owner: 'o' })));
    expect(new Set(all.map((job) => job?.id.toString('hex'))).size).toBe(1);
    expect(all.filter((job) => job?.made)).toHaveLength(1);
  });

  it('is refused to an application that has too many, unless it is there already', async () => {
    await ask({ contract: 'c' }, { application: 'busy', maxOfApplication: 1 });
    expect(await ask({ contract: 'd' }, { application: 'busy', maxOfApplication: 1 })).toBeNull();
    expect(await ask({ contract: 'c' }, { application: 'busy', maxOfApplication: 1 })).not.toBeNull();
    expect(await ask({ contract: 'd' }, { application: 'idle', maxOfApplication: 1 })).not.toBeNull();
  });

  it('is seen by the applications that asked for it, on its network', async () => {
    const id = (await ask(token))?.id as Buffer;
    await ask(token, { application: 'other' });
    const seen = {
      ...token,
      owner: null,
      status: 'queued',
      found: true,
      complete: true,
      counts: { waiting: 1 },
    };
    expect(await nft.view({ id, network, application: 'mine' })).toMatchObject(seen);
    expect(await nft.view({ id, network, application: 'other' })).toMatchObject(seen);
    expect(await nft.view({ id, network, application: 'stranger' })).toBeNull();
    expect(await nft.view({ id, network: 'elsewhere', application: 'mine' })).toBeNull();
  });

  it('is taken by one of many who look at once, each another one', async () => {
    for (const contract of ['a', 'b', 'c']) await ask({ contract });
    const others = [nft, open.another().nft];
    const taken = await Promise.all(Array.from({ length: 8 }, (_, n) => claim(HOUR, others[n % 2])));
    const got = taken.filter((job) => job !== null).map(({ contract }) => contract);
    expect(got.sort()).toEqual(['a', 'b', 'c']);
  });

  it('is another’s when its lease is over, and its first holder can write nothing more', async () => {
    await ask({ contract: 'c' });
    const first = await claim(0);
    const second = await claim();
    expect(second.id).toEqual(first.id);
    expect([first.takeovers, second.takeovers]).toEqual([0, 1]);
    expect(await nft.addTokens(first, [token], true)).toBe(false);
    expect(await nft.addTokens(second, [token], true)).toBe(true);
    expect(await nft.begin(first, 1, at())).toBe('lost');
    expect(await nft.begin(second, 1, at())).toBe('mine');
    expect(await nft.settle(first, 1, { outcome: 'invalid_json' })).toBe(false);
    expect(await nft.renew(first, HOUR)).toBe(false);
    expect(await nft.release(first, { delayMs: 0, failed: true })).toBe(false);
    expect(await nft.end(first, 'unreachable')).toBe(false);
    expect(await nft.view({ id: first.id, network, application: 'mine' })).toMatchObject({
      status: 'running',
      counts: { waiting: 1 },
    });
  });

  it('stays with who renews it, and is put off by who gives it back', async () => {
    await ask({ contract: 'c' });
    const job = await claim(0);
    expect(await nft.renew(job, HOUR)).toBe(true);
    expect(await claim()).toBeNull();
    expect(await nft.release(job, { delayMs: HOUR, failed: true })).toBe(true);
    expect(await claim()).toBeNull();
    await open.sql('UPDATE packhouse.nft_job SET due_at = now() WHERE id = $1', [job.id]);
    expect(await claim()).toMatchObject({ id: job.id, failures: 1, takeovers: 0 });
  });

  it('gives what has no outcome one at its end, and lets its tokens go', async () => {
    await ask(token);
    const job = await claim();
    await nft.begin(job, 1, at());
    expect(await nft.end(job, 'unreachable')).toBe(true);
    expect(await nft.view({ id: job.id, network, application: 'mine' })).toMatchObject({
      status: 'done',
      counts: { unreachable: 1 },
      finishedAt: expect.any(Date),
    });
    expect(await nft.token(network, token)).toMatchObject({ outcome: 'unreachable' });
  });

  it('is forgotten a day after its end; what it found is not', async () => {
    await ask(token);
    const job = await claim();
    await nft.begin(job, 1, at());
    await nft.settle(job, 1, { outcome: 'indexed', metadata: '{}' });
    await nft.end(job, 'unreachable');
    await nft.sweep();
    const look = () => nft.view({ id: job.id, network, application: 'mine' });
    expect(await look()).not.toBeNull();
    await open.sql("UPDATE packhouse.nft_job SET finished_at = now() - interval '25 hours' WHERE id = $1", [
      job.id,
    ]);
    await nft.sweep();
    expect(await look()).toBeNull();
    expect(await nft.token(network, token)).toMatchObject({ outcome: 'indexed', metadata: '{}' });
  });
});

describe('a token', () => {
  const jobFor = async (target: object) => {
    await ask(target);
    return claim();
  };

  it('is asked for once in 15 minutes, and others get what came of it', async () => {
    const first = await jobFor(token);
    expect(await nft.begin(first, 1, at())).toBe('mine');
    await nft.settle(first, 1, {
      outcome: 'indexed',
      standard: 'erc721',
      uri: 'u',
      metadata: '{"\\u0000":1}',
    });
    await nft.end(first, 'unreachable');
    expect(await ask(token)).toMatchObject({ made: true, tokens: 1, recent: true });
    const second = await claim();
    expect(await nft.begin(second, 1, at(15 * MINUTES - 1))).toBe('recent');
    expect(await nft.tokens(second.id, 0, 10)).toEqual([
      { position: 1, ...token, outcome: 'indexed', requestedAt: new Date(NOW), refreshed: false },
    ]);
    await nft.end(second, 'unreachable');
    const third = await jobFor(token);
    expect(await nft.begin(third, 1, at(15 * MINUTES))).toBe('mine');
    await nft.settle(third, 1, { outcome: 'throttled' });
    expect(await nft.token(network, token)).toEqual({
      ...token,
      standard: 'erc721',
      uri: 'u',
      metadata: '{"\\u0000":1}',
      outcome: 'throttled',
      requestedAt: new Date(NOW + 15 * MINUTES),
      indexedAt: new Date(NOW),
    });
  });

  it('that another job is at is waited for', async () => {
    const one = await jobFor(token);
    const all = await jobFor({ contract: 'c' });
    await nft.addTokens(all, [token, { contract: 'c', tokenId: '0x2' }], true);
    expect(await nft.begin(one, 1, at())).toBe('mine');
    expect(await nft.begin(all, 1, at(HOUR))).toBe('busy');
    expect(await nft.begin(all, 2, at())).toBe('mine');
    await nft.settle(one, 1, { outcome: 'too_large' });
    expect(await nft.begin(all, 1, at())).toBe('recent');
    expect(await nft.waiting(all)).toEqual([{ position: 2, contract: 'c', tokenId: '0x2' }]);
  });

  it('that a job asked for when its gateway died is asked for again by that job', async () => {
    await ask(token);
    const first = await claim(0);
    expect(await nft.begin(first, 1, at())).toBe('mine');
    const second = await claim();
    expect(await nft.begin(second, 1, at(1))).toBe('mine');
  });

  it('is asked for by one of many jobs that want it at once', async () => {
    const jobs: LeasedNftJob[] = [];
    for (const owner of ['a', 'b', 'c', 'd', 'e', 'f']) {
      const job = await jobFor({ owner });
      await nft.addTokens(job, [token], true);
      jobs.push(job);
    }
    const leaves = await Promise.all(jobs.map((job) => nft.begin(job, 1, at())));
    expect(leaves.filter((leave) => leave === 'mine')).toHaveLength(1);
    expect(leaves.filter((leave) => leave === 'busy')).toHaveLength(5);
  });

  it('has its page', async () => {
    const job = await jobFor({ contract: 'c' });
    const tokens = Array.from({ length: 5 }, (_, n) => ({ contract: 'c', tokenId: `0x${n}` }));
    expect(await nft.addTokens(job, tokens, false)).toBe(true);
    expect(await nft.addTokens(job, tokens, false)).toBe(false);
    expect((await nft.tokens(job.id, 2, 2)).map(({ tokenId }) => tokenId)).toEqual(['0x2', '0x3']);
    const view = await nft.view({ id: job.id, network, application: 'mine' });
    expect(view).toMatchObject({ found: true, complete: false, counts: { waiting: 5 } });
  });
});
