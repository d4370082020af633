import { request } from 'node:http';
import { type FeedStep, parseFeedStep } from '@packhouse/manifest';
import { parseNetworks } from '@packhouse/networks';
import { createMetrics } from '@packhouse/runtime';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createGateway } from '../../create-gateway.js';
import { ask } from '../../testing/ask.js';
import { startTestGateway, type TestGateway } from '../../testing/test-gateway.js';

const WAIT = { timeout: 20_000 };

let at: TestGateway;
let key: string;
beforeAll(async () => {
  at = await startTestGateway();
  ({ key } = await at.makeKey());
  await at.stage(0, 29);
  await at.publish(0, 9);
  await at.publish(10, 19, ['logs']);
  await setHead(29, 24);
});
afterAll(() => at.close());

async function setHead(number: number, finalized: number): Promise<void> {
  const [block] = await at.database
    .network('ethereum')
    .staging.blocks({ firstBlock: number, lastBlock: number });
  await at.database.network('ethereum').head.set({ number, hash: block?.hash as string, finalized });
}

const feed = (query: string, { network = 'ethereum', as = key } = {}) =>
  ask(at.url, `/${network}/v1/${as}/bundle-api/feed?${query}`);
const toSteps = (text: string): FeedStep[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line, n) => parseFeedStep(line, `Line ${n + 1}`));
const steps = async (query: string): Promise<FeedStep[]> => {
  const answer = await feed(query);
  expect([answer.status, answer.text.slice(0, 200)]).toEqual([200, expect.any(String)]);
  expect(answer.headers['content-type']).toBe('application/x-ndjson');
  return toSteps(answer.text);
};

describe('an answer', () => {
  it('has a step a line, with links that this gateway serves', async () => {
    const all = await steps('kinds=logs&from=5&wait=0');
    expect(all.map(({ step }) => step)).toEqual([
      'bundle',
      'bundle',
      ...Array.from({ length: 10 }, () => 'new'),
      'final',
      'waiting',
    ]);
    const [bundle, , block] = all;
    expect(bundle).toMatchObject({ kind: 'logs', range: '0-9', from: 5 });
    for (const link of [
      (bundle as { download_link: string }).download_link,
      (block as { files: { logs: string } }).files.logs,
    ]) {
      const file = await fetch(link, { headers: { authorization: `Bearer ${key}` } });
      expect(file.status).toBe(200);
    }
    expect(all.at(-1)).toMatchObject({ block: 30, reason: 'not-produced', kinds: ['logs'] });
  });

  it('goes on from a cursor, at another gateway too, and is streamed when it has more than a page', async () => {
    const second = await createGateway({
      context: { ...at.context, metrics: createMetrics() },
      database: at.database,
      objectStore: at.objectStore,
      networks: parseNetworks(
        "networks: [{id: ethereum, family: evm, chainId: 1, upstreams: [{url: 'http://127.0.0.1:1'}]}]",
        { source: 'test', env: {} },
      ),
    });
    const url = `http://127.0.0.1:${await second.listen(0, '127.0.0.1')}`;
    const [first] = await steps('kinds=blocks,logs&from=0&wait=0&limit=1');
    const rest = await ask(url, `/ethereum/v1/${key}/bundle-api/feed?cursor=${first?.cursor}&wait=0`);
    expect(toSteps(rest.text)[0]).toMatchObject({ step: 'bundle', kind: 'logs', range: '0-9' });
    await second.close();
  });

  it('comes when a block is staged, and is a waiting step if nothing happens', async () => {
    const before = (await steps('kinds=receipts&from=25&wait=0')).at(-1);
    const waiting = steps(`cursor=${before?.cursor}&wait=20`);
    await vi.waitUntil(async () => (await openFeeds()) === 1, WAIT);
    await at.stage(30, 30);
    expect((await waiting)[0]).toMatchObject({ step: 'new', block: 30 });
    const end = (await steps(`cursor=${before?.cursor}&wait=0`)).at(-1);
    expect(await steps(`cursor=${end?.cursor}&wait=1`)).toMatchObject([{ step: 'waiting', block: 31 }]);
    expect(await openFeeds()).toBe(0);
  });

  it('to HEAD has no body', async () => {
    const answer = await ask(at.url, `/ethereum/v1/${key}/bundle-api/feed?kinds=logs&from=0`, {
      method: 'HEAD',
    });
    expect([answer.status, answer.text]).toEqual([200, '']);
  });
});

async function openFeeds(): Promise<number> {
  const { text } = await ask(at.url, '/metrics', { headers: { authorization: `Bearer ${key}` } });
  return [...text.matchAll(/^packhouse_gateway_feeds\{.*\} (\d+)$/gm)].reduce(
    (sum, [, n]) => sum + Number(n),
    0,
  );
}

/** Opens a stream of events; `events` has what came. */
function stream(query: string, headers: Record<string, string> = {}) {
  const events: { event: string; id: string; step: FeedStep }[] = [];
  let status = 0;
  let ended = false;
  const url = new URL(`${at.url}/ethereum/v1/${key}/bundle-api/feed?${query}`);
  const sent = request(
    url,
    { headers: { accept: 'text/event-stream', ...headers }, agent: false },
    (response) => {
      status = response.statusCode ?? 0;
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
        for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
          const match = /^event: (\w+)\nid: (\S+)\ndata: (.*)$/.exec(text.slice(0, end));
          text = text.slice(end + 2);
          if (match === null) continue;
          const [, event = '', id = '', data = ''] = match;
          events.push({ event, id, step: parseFeedStep(data, 'Event') });
        }
      });
      response.on('close', () => {
        ended = true;
      });
    },
  );
  sent.on('error', () => {
    ended = true;
  });
  sent.end();
  return { events, status: () => status, ended: () => ended, leave: () => sent.destroy() };
}

describe('a stream of events', () => {
  it('has the same steps, and goes on from the last event that its client had', async () => {
    const lines = await steps('kinds=traces&from=20&wait=0');
    const one = stream('kinds=traces&from=20');
    await vi.waitUntil(() => one.events.at(-1)?.event === 'waiting', WAIT);
    expect(one.events.map(({ step: { cursor: _, ...step } }) => step)).toEqual(
      lines.map(({ cursor: _, ...step }) => step),
    );
    expect(one.events.every(({ event, id, step }) => event === step.step && id === step.cursor)).toBe(true);
    one.leave();
    const after = one.events[2];
    const again = stream('kinds=traces&from=20', { 'last-event-id': after?.id as string });
    await vi.waitUntil(() => again.events.at(-1)?.event === 'waiting', WAIT);
    again.leave();
    expect(after?.step).toMatchObject({ step: 'new', block: 22 });
    expect(again.events.find(({ event }) => event === 'new')?.step).toMatchObject({ block: 23 });
  });

  it('has each new block, what is undone, and nothing twice', async () => {
    const one = stream('kinds=traces&from=28', { 'accept-encoding': 'gzip' });
    await vi.waitUntil(() => one.events.at(-1)?.event === 'waiting', WAIT);
    const already = one.events.length;
    await at.stage(31, 31);
    await vi.waitUntil(() => one.events.some(({ step }) => step.step === 'new' && step.block === 31), WAIT);
    await at.database.network('ethereum').staging.abandon(31);
    await at.stage(31, 31, { branch: 'b' });
    await vi.waitUntil(
      () => one.events.filter(({ step }) => step.step === 'new' && step.block === 31).length === 2,
      WAIT,
    );
    const said = one.events
      .slice(already)
      .flatMap(({ step }) => (step.step === 'waiting' ? [] : [step.step]));
    expect(said).toEqual(['new', 'undo', 'new']);
    one.leave();
  });

  it('ends when its key is revoked', async () => {
    const made = await at.makeKey();
    const own = new URL(`${at.url}/ethereum/v1/${made.key}/bundle-api/feed?kinds=logs&from=30`);
    let ended = false;
    const sent = request(own, { headers: { accept: 'text/event-stream' }, agent: false }, (response) => {
      response.resume().on('close', () => {
        ended = true;
      });
    });
    sent.on('error', () => undefined);
    sent.end();
    await vi.waitUntil(async () => (await openFeeds()) === 1, WAIT);
    await at.database.keys.revoke(made.row.prefix);
    at.time.offset += 5_000;
    await setHead(31, 25);
    await vi.waitUntil(() => ended, WAIT);
  });
});

describe('bad input', () => {
  it.each([
    ['', 400, 'query-invalid'],
    ['kinds=logs', 400, 'query-invalid'],
    ['from=0', 400, 'query-invalid'],
    ['kinds=logs,logs&from=0', 400, 'query-invalid'],
    ['kinds=blobs&from=0', 404, 'kind-unknown'],
    ['kinds=logs&from=x', 400, 'block-number-invalid'],
    ['kinds=logs&from=0&wait=61', 400, 'query-invalid'],
    ['kinds=logs&from=0&final=some', 400, 'query-invalid'],
    ['kinds=logs&from=0&skip=all', 400, 'query-invalid'],
    ['kinds=logs&from=0&limit=10001', 400, 'query-invalid'],
    ['kinds=logs&from=0&cursor=AQ', 400, 'query-invalid'],
    ['cursor=AQ', 400, 'cursor-invalid'],
    ['cursor=%2F%2F', 400, 'cursor-invalid'],
  ])('"%s" is refused with %i %s', async (query, status, reason) => {
    const answer = await feed(query);
    expect([answer.status, answer.json().reason]).toEqual([status, reason]);
  });

  it('in a cursor is refused by name: of another network, of other kinds, cut, forged', async () => {
    const [{ cursor } = { cursor: '' }] = await steps('kinds=logs&from=0&wait=0&limit=1');
    const refusal = async (...args: Parameters<typeof feed>) => {
      const answer = await feed(...args);
      return `${answer.status} ${answer.json().reason}: ${answer.json().detail}`;
    };
    const elsewhere = await refusal(`cursor=${cursor}`, { network: 'logsonly' });
    expect(elsewhere).toMatch(/^400 cursor-foreign: .* it is of the network ethereum\.$/);
    expect(await refusal(`cursor=${cursor}&kinds=blocks,logs`)).toMatch(/^400 cursor-foreign: /);
    expect(await refusal(`cursor=${cursor.slice(0, -4)}`)).toMatch(/^400 cursor-invalid: /);
    const forged = `${cursor.slice(0, 40)}${cursor[40] === 'A' ? 'B' : 'A'}${cursor.slice(41)}`;
    expect(await refusal(`cursor=${forged}`)).toMatch(/^400 cursor-invalid: /);
    expect(await refusal('kinds=traces&from=0', { network: 'logsonly' })).toMatch(/^404 kind-not-enabled: /);
    expect(await refusal('kinds=logs&from=0', { network: 'quiet' })).toMatch(
      /^404 network-without-bundles: /,
    );
  });

  it('beyond the plan is refused, and a feed ends where the plan does', async () => {
    await at.database.plans.set('short', { maxBlock: 22 }, { make: true });
    const { key: limited } = await at.makeKey('short');
    const beyond = await feed('kinds=logs&from=23', { as: limited });
    expect([beyond.status, beyond.json().reason]).toEqual([403, 'plan-limit']);
    const all = toSteps((await feed('kinds=logs&from=15&wait=0', { as: limited })).text);
    expect(all.map(({ step }) => step)).toEqual(['bundle', 'new', 'new', 'new', 'final']);
    const end = await feed(`cursor=${all.at(-1)?.cursor}`, { as: limited });
    expect([end.status, end.json().reason, end.json().maxBlock]).toEqual([403, 'plan-limit', 22]);
  });
});

it('does not count a client any more that is gone', async () => {
  const one = stream('kinds=logs&from=0');
  await vi.waitUntil(async () => (await openFeeds()) === 1, WAIT);
  one.leave();
  await vi.waitUntil(async () => (await openFeeds()) === 0, WAIT);
});

it('answers waiting feeds at once when the gateway drains', async () => {
  const own = await startTestGateway({ feedsPerKey: 2 });
  const made = await own.makeKey();
  const url = `/ethereum/v1/${made.key}/bundle-api/feed?kinds=logs&from=0&wait=60`;
  const waiting = [ask(own.url, url), ask(own.url, url, { headers: { accept: 'text/event-stream' } })];
  await vi.waitUntil(async () => {
    const answer = await ask(own.url, url.replace('wait=60', 'wait=0'));
    return answer.status === 429;
  }, WAIT);
  const closing = own.close();
  const [line, events] = await Promise.all(waiting);
  expect(toSteps(line?.text as string)).toMatchObject([{ step: 'waiting', block: 0 }]);
  expect(events?.text).toContain('event: waiting');
  await closing;
});

it('answers a feed that waits with what it knew while Postgres is away, and a new one with 503', async () => {
  const own = await startTestGateway({ feedsPerKey: 1 });
  await own.stage(0, 3);
  const made = await own.makeKey();
  const url = `/ethereum/v1/${made.key}/bundle-api/feed?kinds=logs&from=4`;
  const waiting = ask(own.url, `${url}&wait=4`);
  await vi.waitUntil(async () => (await ask(own.url, `${url}&wait=0`)).status === 429, WAIT);
  await own.losePostgres();
  expect(toSteps((await waiting).text)).toMatchObject([{ step: 'waiting', block: 4 }]);
  const refused = await ask(own.url, `${url}&wait=0`);
  expect([refused.status, refused.json().reason]).toEqual([503, 'unavailable']);
  await own.close().catch(() => undefined);
});
