import { describe, expect, it } from 'vitest';
import type { Handler } from '../../test/scripted-node.js';
import { call, forwarders, getText, skewedClock, timesAsked, until } from '../../test/test-forwarder.js';
import { explainNotAsked, getNeededHead, getTip, isEligible } from './candidates.js';

const { forwarderTo, node } = forwarders();

type KnownHead = Parameters<typeof getTip>[0][number];

const NOW = 1_000_000;
const clock = { elapsed: () => NOW };
const known = (head: number | null, changes: Partial<KnownHead> = {}): KnownHead => ({
  head,
  headAt: NOW,
  excluded: false,
  ...changes,
});

it.each<[string, KnownHead[], number | null]>([
  ['none is known', [known(null)], null],
  ['all answer', [known(50), known(60)], 60],
  ['one is on another chain', [known(50), known(60, { excluded: true })], 50],
  ['the highest is away for 30 s', [known(50), known(60, { headAt: NOW - 30_000 })], 60],
  ['the highest is away for longer', [known(50), known(60, { headAt: NOW - 30_001 })], 50],
  ['all are away', [known(50, { headAt: 0 }), known(60, { headAt: 0 })], 60],
])('finds the tip where %s', (_, nodes, tip) => {
  expect(getTip(nodes, clock)).toBe(tip);
});

it.each([
  [undefined, 60, null],
  ['tip', 60, 60],
  ['tip', null, null],
  [40, 60, 40],
  [90, 60, 60],
  [90, null, null],
] as const)('needs for block %s at the tip %s the head %s', (block, tip, needed) => {
  expect(getNeededHead(block, tip)).toBe(needed);
});

it.each([
  [known(60), 60, true],
  [known(59), 60, false],
  [known(null), 60, false],
  [known(null), null, true],
  [known(60, { excluded: true }), null, false],
])('takes %j for the head %s: %s', (one, needed, eligible) => {
  expect(isEligible(one, needed)).toBe(eligible);
});

it('names the block and the highest head of those that were not asked', () => {
  expect(explainNotAsked([known(60), known(40), known(null)], 60, true)).toBe(
    'no other node is known to have block 60: the highest head known of them is 40',
  );
  expect(explainNotAsked([known(60), known(null)], 60, false)).toBe(
    'no node is known to have block 60: no head of them is known',
  );
  expect(explainNotAsked([known(60), known(null)], 60, true)).toContain('no head of them is known');
  expect(explainNotAsked([known(60), known(60)], 60, true)).toBeUndefined();
  expect(explainNotAsked([known(60)], null, true)).toBeUndefined();
});

/** A node that answers `m` with its name. */
const onHead =
  (name: string, head: () => number): Handler =>
  ({ method, params }) => {
    if (method === 'eth_chainId') return '0x1';
    if (method === 'm') return name;
    return { number: `0x${(params[0] === 'finalized' ? 1 : head()).toString(16)}` };
  };

describe('of a preferred node that is behind and one at the tip', () => {
  const heads = { behind: 100, best: 600 };
  async function pool() {
    const nodes = [
      await node(onHead('behind', () => heads.behind)),
      await node(onHead('best', () => heads.best)),
    ] as const;
    const { forwarder } = forwarderTo(nodes, { network: { family: 'evm' } });
    await until(() => forwarder.status().every(({ head }) => head !== null));
    return { forwarder, behind: nodes[0], best: nodes[1] };
  }

  it.each([
    ['the tip', 'tip', 'best'],
    ['a block that only one has', 101, 'best'],
    ['a block that both have', 100, 'best'],
    ['a block that none has', 9_000, 'best'],
  ] as const)('asks for %s the right one', async (_, block, name) => {
    const { forwarder } = await pool();
    // Sent once: the other one is not asked as well if this machine is slow.
    expect(await getText(await call(forwarder, { block, idempotent: false }))).toBe(`"${name}"`);
  });

  it('asks the one behind for old blocks and for no block where the best fails, and refuses what is newer', async () => {
    const { behind, best, forwarder } = await pool();
    best.intercept = ({ calls }, response) =>
      calls[0]?.method === 'm' && Boolean(response.writeHead(500).end());
    for (const block of ['tip', 101, 9_000] as const) {
      expect(await call(forwarder, { block })).toEqual({
        kind: 'failed',
        reason: 'unavailable',
        detail: `a node answered HTTP 500, and no other node is known to have block ${block === 101 ? 101 : 600}: the highest head known of them is 100`,
      });
    }
    expect(timesAsked(behind, 'm')).toBe(0);
    expect(await getText(await call(forwarder, { block: 100 }))).toBe('"behind"');
    expect(await getText(await call(forwarder))).toBe('"behind"');
  });

  it('asks no one behind beside a slow one', async () => {
    const { behind, best, forwarder } = await pool();
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    best.intercept = async ({ calls }) => {
      if (calls[0]?.method === 'm') await released;
      return false;
    };
    const asked = call(forwarder, { block: 'tip' });
    // Asked later and slow as well, this call is hedged: the time to hedge the first one is over.
    expect(await getText(await call(forwarder, { block: 50 }))).toBe('"behind"');
    expect(timesAsked(behind, 'm')).toBe(1);
    release();
    expect(await getText(await asked)).toBe('"best"');
  });
});

it('keeps the tip while its node does not answer, and goes back with it', async () => {
  let head = 60;
  const [one, two] = [await node(onHead('one', () => 50)), await node(onHead('two', () => head))];
  const { clock, skew } = skewedClock();
  const { forwarder } = forwarderTo([one, two], { network: { family: 'evm' }, clock });
  await until(() => forwarder.status().every((each) => each.head !== null));
  two.intercept = (_, response) => Boolean(response.writeHead(500).end());
  await until(() => forwarder.status()[1]?.healthy === false);
  expect(forwarder.head()).toBe(60);
  expect(await call(forwarder, { block: 'tip' })).toMatchObject({ kind: 'failed', reason: 'unavailable' });
  head = 55;
  two.intercept = null;
  await until(() => forwarder.status()[1]?.head === 55);
  // What was told of the tip is held to for 30 s.
  expect(forwarder.head()).toBe(60);
  skew.ms += 30_000;
  await until(() => forwarder.head() === 55);
  expect(await getText(await call(forwarder, { block: 'tip' }))).toBe('"two"');
});

it('asks a node whose head is not believed after the others where a call names no block', async () => {
  const told = (block: unknown): number => (block === 'latest' ? 0xffffffff : 1);
  const liar = await node(({ method, params }) => {
    if (method === 'eth_chainId') return '0x1';
    if (method === 'm') return 'liar';
    return Number(params[0]) > 40 ? null : { number: `0x${told(params[0]).toString(16)}` };
  });
  const right = await node(onHead('right', () => 60));
  const { forwarder, context } = forwarderTo([liar, right], { network: { family: 'evm', chainId: 1 } });
  await until(() => forwarder.head() === 60 && context.lines.some((line) => line.includes('cannot deliver')));
  // Sent once: the other one is not asked as well if this machine is slow.
  expect(await getText(await call(forwarder, { idempotent: false }))).toBe('"right"');
  expect(timesAsked(liar, 'm')).toBe(0);
});
