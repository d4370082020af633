import { newBlockFile } from '@packhouse/manifest';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Client, createClient } from '../client/create-client.js';
import type { FollowRequest, FollowStep } from '../client/follow.js';
import { type FeedGateway, startFeedGateway } from '../testing/feed-gateway.js';
import { refuse } from '../testing/test-gateway.js';

let feed: FeedGateway;
let client: Client;
beforeEach(async () => {
  feed = await startFeedGateway(['logs', 'blocks']);
  client = createClient({ url: feed.gateway.url, apiKey: feed.gateway.apiKey });
});
afterEach(async () => {
  await client.close();
  for (const each of [feed.gateway, ...feed.gateway.others]) await each.close();
});

/** Steps until one fits, which is the last. */
async function until(
  request: FollowRequest<
    readonly ['event Transfer(address indexed from, address indexed to, uint256 value)']
  >,
  isLast: (step: FollowStep) => boolean,
): Promise<FollowStep[]> {
  const steps: FollowStep[] = [];
  for await (const step of client.follow(request)) {
    steps.push(step);
    if (isLast(step)) break;
  }
  return steps;
}
const at =
  (block: number) =>
  (step: FollowStep): boolean =>
    step.step === 'blocks' && step.to === block;
const rows = (steps: readonly FollowStep[]): string[] =>
  steps.flatMap((step) =>
    step.step === 'blocks'
      ? step.logs.map(({ blockNumber, blockHash, logIndex }) => `${blockNumber}:${blockHash}:${logIndex}`)
      : [],
  );

it('gives history as files, then new blocks, with all rows in order', async () => {
  feed.mine(30);
  feed.pack('logs', 10);
  feed.pack('logs', 5);
  feed.pack('blocks', 12);
  const steps = await until({ kinds: ['logs', 'blocks'], from: 0 }, at(30));
  expect(rows(steps)).toEqual(feed.logs());
  const blocks = steps.filter((step) => step.step === 'blocks');
  expect(
    blocks
      .slice(0, 4)
      .map(({ from, to, final, tables }) => [from, to, final, tables.map(({ kind }) => kind)]),
  ).toEqual([
    [0, 11, true, ['blocks']],
    [0, 9, true, ['logs']],
    [10, 14, true, ['logs']],
    [12, 12, false, ['blocks']],
  ]);
  expect(blocks.at(-1)).toMatchObject({ from: 30, hash: feed.chain[30]?.hash, parent: feed.chain[29]?.hash });
  expect(
    blocks
      .at(-1)
      ?.tables.map(({ kind }) => kind)
      .sort(),
  ).toEqual(['blocks', 'logs']);
});

it('has the time of a new block from its header, if its logs lack it', async () => {
  feed.mine(3);
  const steps = await until({ kinds: ['logs', 'blocks'], from: 0 }, at(3));
  const times = steps.flatMap((step) => (step.step === 'blocks' ? step.logs : []));
  expect(times.length).toBeGreaterThan(0);
  for (const { blockNumber, blockTimestamp } of times)
    expect(blockTimestamp).toBe(1_600_000_000 + 12 * blockNumber);
});

it('goes on behind the cursor of any step, in another process', async () => {
  feed.mine(20);
  feed.pack('logs', 8);
  const all = await until({ kinds: ['logs'], from: 0 }, at(20));
  for (const [n, { cursor }] of all.slice(0, -1).entries()) {
    const rest = await until({ kinds: ['logs'], cursor }, at(20));
    expect(rest.map(({ step, cursor: own }) => [step, own])).toEqual(
      all.slice(n + 1).map(({ step, cursor: own }) => [step, own]),
    );
  }
});

it('undoes what a reorganisation removed, newest first, and goes on', async () => {
  feed.mine(8);
  const follow = client.follow({ kinds: ['logs'], from: 0 });
  const steps: FollowStep[] = [];
  const next = async (isLast: (step: FollowStep) => boolean): Promise<void> => {
    for (;;) {
      const { value } = await follow.next();
      steps.push(value as FollowStep);
      if (isLast(value as FollowStep)) return;
    }
  };
  await next(at(8));
  const before = feed.chain.slice(6).map(({ hash }) => hash);
  feed.reorganise(3);
  await next(at(9));
  const undone = steps.filter((step) => step.step === 'undo');
  expect(undone.map(({ block, hash, to }) => [block, hash, to.block])).toEqual([
    [8, before[2], 7],
    [7, before[1], 6],
    [6, before[0], 5],
  ]);
  expect(rows(steps.slice(steps.lastIndexOf(undone.at(-1) as FollowStep)))).toEqual(
    feed.logs().filter((row) => Number(row.split(':')[0]) >= 6),
  );
  await follow.return();
});

it('reads the feed again if the file of a block is gone before it came', async () => {
  feed.mine(6);
  let asked = 0;
  const counts = (): number => {
    asked += 1;
    return asked;
  };
  const answer = feed.gateway.fault;
  feed.gateway.fault = (path, response, request) => {
    // The reorganisation comes between the step and its file.
    if (path.includes('/6-6.json.gz?hash=') && counts() === 1) feed.reorganise(2);
    return answer?.(path, response, request) ?? false;
  };
  const steps = await until({ kinds: ['logs'], from: 0 }, at(7));
  expect(
    rows(steps.filter(({ step }) => step !== 'undo')).filter((row) => feed.logs().includes(row)),
  ).toEqual(feed.logs());
  expect(asked).toBeGreaterThan(0);
});

it('reads the feed again if another block took the place of one before its file came', async () => {
  feed.mine(6);
  const before = feed.chain[6]?.hash as string;
  let replaced = 0;
  const answer = feed.gateway.fault;
  feed.gateway.fault = (path, response, request) => {
    // Of a gateway that does not read the hash of a link: behind it is the block that the chain has now.
    if (path.includes(before) && replaced === 0) {
      replaced += 1;
      feed.reorganise(2);
      const hash = feed.chain[6]?.hash as string;
      return answer?.(path.replace(before, hash), response, request) ?? false;
    }
    return answer?.(path, response, request) ?? false;
  };
  const steps = await until({ kinds: ['blocks', 'logs'], from: 0 }, at(7));
  expect(replaced).toBe(1);
  expect(steps.filter((step) => step.step === 'blocks' && step.hash === before)).toEqual([]);
  expect(
    rows(steps.filter(({ step }) => step !== 'undo')).filter((row) => feed.logs().includes(row)),
  ).toEqual(feed.logs());
});

it('says once what it waits for', async () => {
  feed.mine(5);
  feed.hole = { block: 3, reason: 'quarantined' };
  const follow = client.follow({ kinds: ['logs'], from: 0 });
  const seen: string[] = [];
  for await (const step of follow) {
    seen.push(step.step === 'waiting' ? `${step.block} ${step.reason}` : step.step);
    if (step.step === 'waiting' && step.reason === 'quarantined') {
      const polls = feed.gateway.requests.filter((path) => path.includes('/feed?')).length;
      const resolved = (async () => {
        while (feed.gateway.requests.filter((path) => path.includes('/feed?')).length < polls + 3) {
          await new Promise((resolve) => setImmediate(resolve));
        }
        feed.hole = null;
      })();
      resolved.catch(() => undefined);
    }
    if (step.step === 'waiting' && step.reason === 'not-produced') break;
  }
  expect(seen.filter((text) => text === '3 quarantined')).toHaveLength(1);
  expect(seen.filter((text) => text === 'blocks')).toHaveLength(6);
});

it('filters and decodes, and gives blocks without such logs too', async () => {
  feed.mine(12);
  feed.pack('logs', 6);
  const abi = ['event Transfer(address indexed from, address indexed to, uint256 value)'] as const;
  const address = `0x${'2'.repeat(40)}`;
  const steps = await until(
    { kinds: ['logs', 'blocks'], from: 0, abi, address, topics: ['Transfer'] },
    at(12),
  );
  const logs = steps.flatMap((step) => (step.step === 'blocks' ? step.logs : []));
  expect(logs.length).toBeGreaterThan(0);
  expect(logs.every((log) => log.address === address && log.event === 'Transfer')).toBe(true);
  const kinds = steps.flatMap((step) => (step.step === 'blocks' ? step.tables : []));
  expect(kinds.filter(({ kind }) => kind === 'blocks').reduce((sum, { rows: own }) => sum + own, 0)).toBe(13);
});

it('gives a file that was published again, in place of its rows', async () => {
  feed.mine(12);
  feed.pack('logs', 5);
  feed.pack('logs', 5);
  const before = await until({ kinds: ['logs'], from: 0 }, at(12));
  feed.repair('logs', 5);
  const [step] = await until(
    { kinds: ['logs'], cursor: before.at(-1)?.cursor },
    ({ step: name }) => name === 'repaired',
  );
  expect(step).toMatchObject({ step: 'repaired', kind: 'logs', from: 5, to: 9 });
  const own =
    step?.step === 'repaired'
      ? step.logs.map((log) => `${log.blockNumber}:${log.blockHash}:${log.logIndex}`)
      : [];
  expect(own).toEqual(feed.logs().filter((row) => [5, 6, 7, 8, 9].includes(Number(row.split(':')[0]))));
});

describe('fails by name', () => {
  const failing = (request: FollowRequest, code: string, message: RegExp) =>
    expect(until(request as never, () => false)).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
  const instead = (steps: object[]): void => {
    feed.onFeed = (response) => {
      response.end(steps.map((step) => `${JSON.stringify({ cursor: 'AA', ...step })}\n`).join(''));
      return true;
    };
  };
  const newStep = (block: number, more: object = {}): object => {
    const { hash, parent } = feed.chain[block] as FeedGateway['chain'][number];
    const logs = `${feed.gateway.url}/files/logs/${newBlockFile(block, hash)}`;
    return { step: 'new', block, hash, parent, files: { logs }, ...more };
  };

  it('if a cursor is refused', async () => {
    await failing({ kinds: ['logs'], cursor: 'bm9uc2Vuc2U' }, 'CURSOR_INVALID', /The cursor was changed/);
  });

  it('if the records of a new block are of another block', async () => {
    feed.mine(9);
    const other = feed.chain.findIndex(
      ({ block }) => block > 3 && feed.logs().some((row) => row.startsWith(`${block}:`)),
    );
    instead([newStep(other, { hash: `0x${'12'.repeat(32)}` })]);
    await failing(
      { kinds: ['logs'], from: 0 },
      'FEED_INVALID',
      new RegExp(`logs of the new block ${other} contradicts the feed: it has 0x[0-9a-f]+, expected 0x1212`),
    );
  });

  it('if a block does not follow the one before', async () => {
    feed.mine(5);
    instead([newStep(1), newStep(3)]);
    await failing({ kinds: ['logs'], from: 0 }, 'FEED_INVALID', /continues logs with block 3, expected 2/);
    instead([newStep(1), newStep(2, { parent: `0x${'34'.repeat(32)}` })]);
    await failing(
      { kinds: ['logs'], from: 0 },
      'FEED_INVALID',
      /the parent of a block after block 1, expected/,
    );
  });

  it('if a final block is undone', async () => {
    feed.mine(5);
    const final = { step: 'final', block: 2, hash: feed.chain[2]?.hash };
    const to = { block: 1, hash: feed.chain[1]?.hash };
    instead([newStep(1), newStep(2), final, { step: 'undo', block: 2, hash: feed.chain[2]?.hash, to }]);
    await failing({ kinds: ['logs'], from: 0 }, 'FEED_INVALID', /undoes blocks from 2 on, and 2 was final/);
  });

  it('if a file is in no signed manifest, or is another one there', async () => {
    feed.mine(9);
    feed.pack('logs', 5);
    const download_link = `${feed.gateway.url}/files/logs/0-4.json.gz`;
    const bundle = {
      step: 'bundle',
      kind: 'logs',
      from: 0,
      download_link,
      sha256: 'ab'.repeat(32),
      bytes: 9,
    };
    instead([{ ...bundle, range: '0-5' }]);
    await failing(
      { kinds: ['logs'], from: 0 },
      'FEED_INVALID',
      /has the file 0-5 of logs, and the signed manifest has none/,
    );
    instead([{ ...bundle, range: '0-4' }]);
    await failing(
      { kinds: ['logs'], from: 0 },
      'FEED_INVALID',
      /has the SHA-256 abab.* and its signed entry/,
    );
  });

  it('if the gateway sends other bytes than the manifest says', async () => {
    feed.mine(9);
    feed.pack('logs', 5);
    feed.gateway.files.set('0-4', Buffer.from('nonsense'));
    await failing({ kinds: ['logs'], from: 0 }, 'BUNDLE_INVALID', /other than the manifest says/);
  });

  it('if a block whose file is gone comes again and again', { timeout: 20_000 }, async () => {
    feed.mine(5);
    feed.gateway.others = [];
    const logs = `${feed.gateway.url}/files/logs/${newBlockFile(1, `0x${'00'.repeat(32)}`)}`;
    instead([newStep(1, { files: { logs } })]);
    await failing(
      { kinds: ['logs'], from: 0 },
      'FEED_INVALID',
      /goes on with a block whose file is gone, 6 times/,
    );
  });
});

it('waits for a gateway that is away once it has answered', {
  timeout: 60_000,
}, async () => {
  feed.mine(3);
  let [away, seen] = [0, 0];
  const waits: string[] = [];
  const patient = createClient({
    url: feed.gateway.url,
    apiKey: feed.gateway.apiKey,
    onWait: ({ reason }) => waits.push(reason),
  });
  for await (const step of patient.follow({ kinds: ['logs'], from: 0 })) {
    if (step.step === 'blocks') seen = step.to;
    if (seen === 3 && away === 0) {
      feed.onFeed = (response) => {
        away += 1;
        if (away === 3) {
          feed.onFeed = null;
          feed.mine(1);
        }
        return refuse(
          response,
          503,
          { reason: 'draining', detail: 'It is draining.' },
          { 'retry-after': '0' },
        );
      };
    }
    if (seen === 4) break;
  }
  expect(waits.filter((reason) => /It is draining/.test(reason))).toHaveLength(3);
  await patient.close();
});
