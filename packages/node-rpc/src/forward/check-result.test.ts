import { beforeEach, describe, expect, it } from 'vitest';
import type { ScriptedNode } from '../../test/scripted-node.js';
import { call, changeTimers, forwarders, getText, timesAsked, without } from '../../test/test-forwarder.js';
import type { ForwardRequest, Lack } from './send/forward-request.js';

const { forwarderTo, node } = forwarders();
// No node is asked beside one that a busy machine makes late.
beforeEach(() => changeTimers({ 100: 60_000 }));

/** A list of so many bytes, one place of which says something else. */
function list(bytes: number, wrongAt?: number): string[] {
  const items = Array.from({ length: bytes / 100 }, (_, n) => `${n}`.padStart(97, '.'));
  if (wrongAt !== undefined) items[wrongAt / 100] = 'wrong';
  return items;
}

describe.each([
  ['short', 1_000],
  ['whole', 200_000],
  ['streamed', 4_000_000],
])('an answer that is %s and wrong', (_, bytes) => {
  it.each([0, 0.5, 0.9])('at %f of it is taken from another node', async (part) => {
    const wrong = list(bytes, bytes * part);
    const [one, two] = [await node(() => wrong), await node(() => list(bytes))];
    const { forwarder, context } = forwarderTo([one, two]);
    const text = await getText(await call(forwarder, without('wrong')));
    expect(text === JSON.stringify(list(bytes))).toBe(true);
    expect([one, two].map((each) => timesAsked(each, 'm'))).toEqual([1, 1]);
    expect(await context.metrics.render()).toContain('upstream="node-1",method="m",outcome="nonsense"} 1');
  });

  it('of all nodes never ends', async () => {
    const nodes: ScriptedNode[] = [];
    for (let n = 0; n < 3; n++) nodes.push(await node(() => list(bytes, bytes * 0.9)));
    const asking = call(forwarderTo(nodes).forwarder, without('wrong')).then(getText);
    await expect(asking).rejects.toThrow();
    expect(nodes.map((each) => timesAsked(each, 'm'))).toEqual([1, 1, 1]);
  });
});

it('what is wrong at the end of an answer is found there', async () => {
  const check: ForwardRequest['check'] = () => ({ push: () => null, end: () => 'half of it' });
  for (const bytes of [100, 4_000_000]) {
    const { forwarder } = forwarderTo([await node(() => list(bytes))]);
    const asking = call(forwarder, { check }).then(async (answer) =>
      answer.kind === 'failed' ? answer.detail : getText(answer),
    );
    await expect(asking.catch((error: Error) => error.message)).resolves.toBe('a node sent half of it');
  }
});

describe('an empty list', () => {
  it.each<[Lack, unknown[], string, number[]]>([
    ['nothing', [[], ['it']], '[]', [1, 0]],
    ['unknown', [[], ['it']], '["it"]', [1, 1]],
    ['unknown', [[], []], '[]', [1, 1]],
    ['likely', [[], ['it']], '["it"]', [1, 1]],
    ['certain', [[], ['it']], '["it"]', [1, 1]],
    ['certain', [[], [], [], ['it']], '["it"]', [1, 1, 1, 1]],
  ])('that lacks %s, of nodes that answer %j: %s', async (lack, results, text, counts) => {
    const nodes: ScriptedNode[] = [];
    for (const result of results) nodes.push(await node(() => result));
    const lacks: ForwardRequest['lacks'] = ({ bytes }) => (bytes.toString() === '[]' ? lack : 'nothing');
    for (const delayed of [lacks, async (body) => lacks(body)] satisfies ForwardRequest['lacks'][]) {
      for (const each of nodes) each.requests.length = 0;
      const { forwarder } = forwarderTo(nodes);
      const answer = await call(forwarder, { crossCheck: 'existence', lacks: delayed });
      expect(await getText(answer)).toBe(text);
      expect(nodes.map((each) => timesAsked(each, 'm'))).toEqual(counts);
    }
  });

  it('of all nodes is refused if it is certain that it lacks something', async () => {
    const { forwarder } = forwarderTo([await node(() => []), await node(() => [])]);
    expect(await call(forwarder, { crossCheck: 'existence', lacks: () => 'certain' })).toEqual({
      kind: 'failed',
      reason: 'unavailable',
      detail: 'the only answer is an empty list, and the header of its block says that there is more',
    });
    expect(forwarder.status().every(({ healthy }) => healthy)).toBe(true);
  });
});
