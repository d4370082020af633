import { type Clock, systemClock } from '@packhouse/runtime';
import { describe, expect, it } from 'vitest';
import type { ScriptedNode } from '../../test/scripted-node.js';
import { call, forwarders, getText, timesAsked, until, without } from '../../test/test-forwarder.js';
import type { ForwardAnswer, ForwardRequest } from './send/forward-request.js';

const { forwarderTo, node } = forwarders();

/** A node with so many blocks; `m` answers with `result`, or with HTTP 500 if that is `fails`. */
interface Member {
  head: number;
  result: unknown;
}

async function getPool(members: readonly Member[], clock: Clock = systemClock) {
  const nodes: ScriptedNode[] = [];
  for (const member of members) {
    const one = await node(({ method, params }) => {
      if (method === 'eth_chainId') return '0x1';
      if (method === 'm') return member.result;
      return { number: `0x${(params[0] === 'finalized' ? 1 : member.head).toString(16)}` };
    });
    one.intercept = ({ calls }, response) =>
      calls[0]?.method === 'm' && member.result === 'fails' && Boolean(response.writeHead(500).end());
    nodes.push(one);
  }
  const { forwarder } = forwarderTo(nodes, { network: { family: 'evm' }, clock });
  await until(() => forwarder.status().every(({ head }) => head !== null));
  return { forwarder, asked: () => nodes.map((one) => timesAsked(one, 'm')) };
}

/** The result, or the reason of a refusal. */
async function getOutcome(answer: ForwardAnswer): Promise<string> {
  return answer.kind === 'failed' ? `${answer.reason}: ${answer.detail}` : await getText(answer);
}

const at = (head: number, result: unknown): Member => ({ head, result });
const whether: Partial<ForwardRequest> = { crossCheck: 'existence' };
const fits = without('wrong');

describe('of several nodes', () => {
  it.each<[string, Partial<ForwardRequest>, Member[], string, number[]]>([
    ['finds what the second has', whether, [at(60, null), at(60, 'it')], '"it"', [1, 1]],
    ['finds nothing where two agree', whether, [at(60, null), at(60, null), at(60, 'x')], 'null', [1, 1, 0]],
    ['finds nothing where one agrees with nobody', whether, [at(60, null)], 'null', [1]],
    [
      'asks the third if the second fails',
      whether,
      [at(60, null), at(60, 'fails'), at(60, 'it')],
      '"it"',
      [1, 1, 1],
    ],
    [
      'asks two more at most',
      whether,
      [at(60, null), at(60, 'fails'), at(60, 'fails'), at(60, 'it')],
      'null',
      [1, 1, 1, 0],
    ],
    ['does not believe a node one block behind', whether, [at(59, null), at(60, 'it')], '"it"', [1, 1]],
    ['asks none behind to agree', whether, [at(60, null), at(59, null)], 'null', [1, 0]],
    ['takes what a node behind has', whether, [at(59, 'it'), at(60, null)], '"it"', [1, 0]],
    [
      'refuses where only nodes behind answer',
      whether,
      [at(59, null), at(60, 'fails')],
      'unavailable: a node answered HTTP 500',
      [1, 1],
    ],
    [
      'refuses where the last one to answer is behind',
      whether,
      [at(60, 'fails'), at(50, null)],
      'unavailable: the only answer is of a node that does not have block 60, so that it cannot know',
      [1, 1],
    ],
    [
      'believes a node that has the block asked for',
      { ...whether, block: 40 },
      [at(59, null), at(60, null)],
      'null',
      [1, 1],
    ],
    ['hands on null of a call that is no look-up', {}, [at(60, null), at(60, 'it')], 'null', [1, 0]],
    ['passes over an answer about something else', fits, [at(60, 'wrong'), at(60, 'it')], '"it"', [1, 1]],
    [
      'refuses where all are about something else',
      fits,
      [at(60, 'wrong'), at(60, 'wrong')],
      'nonsense: a node sent an answer about something else',
      [1, 1],
    ],
  ])('%s', async (_, request, members, outcome, counts) => {
    const { asked, forwarder } = await getPool(members);
    expect(await getOutcome(await call(forwarder, request))).toBe(outcome);
    expect(asked()).toEqual(counts);
  });
});

it('rests a node whose answers are about something else', async () => {
  const [one, two] = [await node(() => 'wrong'), await node(() => 'it')];
  const { forwarder } = forwarderTo([one, two]);
  for (let n = 0; n < 5; n++) expect(await getOutcome(await call(forwarder, fits))).toBe('"it"');
  expect(forwarder.status()[0]?.healthy).toBe(false);
});

describe('the newest number', () => {
  const head: Partial<ForwardRequest> = { crossCheck: 'head', block: 'tip' };

  it('does not go back where a node is behind what was told, whichever answers', async () => {
    const [one, two] = [at(61, '0x3d'), at(60, '0x3c')];
    const { forwarder } = await getPool([one, two]);
    expect(await getOutcome(await call(forwarder, head))).toBe('"0x3d"');
    one.result = '0x3b';
    expect(await getOutcome(await call(forwarder, head))).toBe('"0x3d"');
    one.result = 'fails';
    expect(await getOutcome(await call(forwarder, head))).toBe(
      'unavailable: a node answered HTTP 500, and no other node is known to have block 61: the highest head known of them is 60',
    );
    // Nobody has it any more: any may be asked, and what is answered is the number told.
    one.head = 60;
    await until(() => forwarder.status()[0]?.head === 60);
    expect(await getOutcome(await call(forwarder, head))).toBe('"0x3d"');
    two.result = '0x3e';
    expect(await getOutcome(await call(forwarder, head))).toBe('"0x3e"');
    expect(forwarder.head()).toBe(62);
  });

  it('goes back where no node had it for 30 s', async () => {
    const skew = { ms: 0 };
    const [one, two] = [at(61, '0x3d'), at(60, '0x3c')];
    const { forwarder } = await getPool([one, two], {
      ...systemClock,
      elapsed: () => performance.now() + skew.ms,
    });
    expect(await getOutcome(await call(forwarder, head))).toBe('"0x3d"');
    Object.assign(one, { head: 60, result: '0x3c' });
    await until(() => forwarder.status()[0]?.head === 60);
    expect(await getOutcome(await call(forwarder, head))).toBe('"0x3d"');
    skew.ms = 31_000;
    expect(await getOutcome(await call(forwarder, head))).toBe('"0x3c"');
  });

  it('is not believed of a node that tells one far above all others', async () => {
    const { forwarder } = await getPool([at(60, '0x3b9aca00'), at(60, '0x3c')]);
    expect(await getOutcome(await call(forwarder, head))).toBe('"0x3c"');
    expect(forwarder.head()).toBe(60);
  });
});

describe('a result that another node has to confirm', () => {
  const lookUp: Partial<ForwardRequest> = { crossCheck: 'existence', timeoutMs: 400 };

  it.each([[null], [[]]])('is returned if the other is too slow to say: %j', async (result) => {
    const [one, two] = [await node(() => result), await node()];
    two.intercept = () => true;
    const { forwarder } = forwarderTo([one, two]);
    expect(await getOutcome(await call(forwarder, lookUp))).toBe(JSON.stringify(result));
    expect(two.requests).toHaveLength(1);
  });

  it('is null instead of logs', async () => {
    const nodes = [await node(() => null), await node(() => ['log'])];
    const { forwarder } = forwarderTo(nodes);
    expect(await getOutcome(await call(forwarder, { crossCheck: 'logs' }))).toBe('["log"]');
  });

  it.each([[null], [[]]])('is not %j if the other has it, and only one other is asked', async (result) => {
    const nodes = [await node(() => result), await node(() => result), await node(() => 'it')];
    const { forwarder } = forwarderTo(nodes);
    expect(await getOutcome(await call(forwarder, lookUp))).toBe(JSON.stringify(result));
    expect(nodes.map(({ requests }) => requests.length)).toEqual([1, 1, 0]);
    const { forwarder: reversed } = forwarderTo([...nodes].reverse().slice(0, 2).reverse());
    expect(await getOutcome(await call(reversed, lookUp))).toBe('"it"');
  });
});
