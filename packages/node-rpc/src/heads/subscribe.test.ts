import {
  createReplayNode,
  generateChain,
  type ReplayNode,
  type ReplayNodeOptions,
} from '@packhouse/replay-node';
import { systemClock } from '@packhouse/runtime';
import { afterEach, describe, expect, it } from 'vitest';
import { testContext, testSource, testUpstream } from '../../test/test-source.js';

const blocks = generateChain({ length: 200, txsPerBlock: 0, startNumber: 0 });

describe('a subscription to new heads', () => {
  const closers: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });

  async function subscribed(
    options: Partial<ReplayNodeOptions> = {},
    change: (ws: string) => string = (ws) => ws,
    checkMs?: number,
  ) {
    const node: ReplayNode = await createReplayNode({ blocks, head: 100, ...options });
    closers.push(() => node.close());
    const context = testContext(systemClock);
    const { source } = testSource([testUpstream(node.url, { ws: change(node.wsUrl) })], {
      context,
      ...(checkMs === undefined ? {} : { checkMs }),
    });
    closers.push(() => source.close());
    const heard: number[] = [];
    const stop = source.onHead((number) => heard.push(number));
    return { node, source, context, heard, stop };
  }

  const until = (what: () => boolean): Promise<void> =>
    expect
      .poll(what, { timeout: 120_000 })
      .toBe(true)
      .then(() => undefined);

  it('tells of every new block as soon as the node has it', async () => {
    const { node, source, heard, stop, context } = await subscribed();
    await until(() => source.subscription().delivering);
    expect(source.status()[0]?.subscribed).toBe(true);
    for (let head = 101; head <= 110; head += 1) node.setHead(head);
    await until(() => heard.length === 10);
    expect(heard).toEqual([101, 102, 103, 104, 105, 106, 107, 108, 109, 110]);
    expect(source.subscription()).toEqual({ delivering: true, announced: 110 });
    expect(await context.metrics.render()).toContain(
      'packhouse_upstream_subscribed{network="testnet",upstream="main"} 1',
    );
    stop();
    expect(source.subscription().delivering).toBe(false);
    await until(() => node.feed.subscribers === 0);
  });

  it('comes back after the connection was lost', async () => {
    const { node, source, heard } = await subscribed();
    await until(() => source.subscription().delivering);
    node.feed.drop();
    await until(() => !source.subscription().delivering);
    await until(() => source.subscription().delivering);
    node.setHead(120);
    await until(() => heard.includes(120));
  });

  it.each([
    ['answers nothing any more', (node: ReplayNode) => node.feed.freeze(true)],
    ['tells of nothing although there are new blocks', (node: ReplayNode) => node.feed.mute(true)],
  ])('is given up where the node %s', async (_, spoil) => {
    const { node, source } = await subscribed({}, undefined, 500);
    await until(() => source.subscription().delivering);
    spoil(node);
    let head = 101;
    await until(() => {
      node.setHead(Math.min(199, head++));
      return !source.subscription().delivering;
    });
  });

  it('is tried again, and polled meanwhile, where the node refuses it', async () => {
    const { node, source, context } = await subscribed();
    node.feed.drop(true);
    await until(() => context.lines.some((line) => line.includes('failed: polling')));
    expect(source.subscription()).toEqual({ delivering: false, announced: null });
    expect((await source.head()).number).toBe(100);
    node.feed.drop(false);
    await until(() => source.subscription().delivering);
  });

  it('ends with its source while it waits for its next try', async () => {
    const { node, source } = await subscribed();
    node.feed.drop(true);
    await source.close();
    expect(source.subscription().delivering).toBe(false);
  });

  it('shows no credentials in what it logs', async () => {
    const { node, context } = await subscribed(
      {},
      (ws) => `${ws.replace('//', '//user:secretpassword@')}/v3/0123456789abcdef`,
    );
    node.feed.drop(true);
    await until(() => context.lines.some((line) => line.includes('failed: polling')));
    expect(context.lines.join('')).not.toMatch(/secretpassword|0123456789abcdef/);
  });
});
