import { expect, it } from 'vitest';
import { flameGraph } from './flame-graph.js';
import { type CpuProfile, toShares } from './profile.js';

/** A profile in which each stack, the outermost call first, was seen for some milliseconds. */
function profile(stacks: { calls: [name: string, url: string][]; ms: number }[]): CpuProfile {
  const nodes: CpuProfile['nodes'] = [
    { id: 1, callFrame: { functionName: '(root)', url: '', lineNumber: -1 }, children: [] },
  ];
  const [samples, timeDeltas]: [number[], number[]] = [[], []];
  for (const { calls, ms } of stacks) {
    let at = nodes[0] as CpuProfile['nodes'][number];
    for (const [functionName, url] of calls) {
      const node = { id: nodes.length + 1, callFrame: { functionName, url, lineNumber: 9 }, children: [] };
      nodes.push(node);
      at.children?.push(node.id);
      at = node;
    }
    for (let left = ms; left > 0; left--) {
      samples.push(at.id);
      timeDeltas.push(1000);
    }
  }
  return { nodes, samples, timeDeltas };
}

const prove: [string, string] = ['prove', 'file:///a/packages/chain/dist/prove/roots.js'];

it('counts what Node and V8 do for the room that called it, and garbage for nobody', () => {
  const { ms, rooms, functions } = toShares([
    profile([
      { calls: [prove, ['parse', '']], ms: 5 },
      { calls: [prove, ['from', 'node:buffer']], ms: 3 },
      { calls: [prove, ['(garbage collector)', '']], ms: 2 },
      { calls: [prove], ms: 1 },
      { calls: [['(idle)', '']], ms: 900 },
    ]),
    profile([
      { calls: [prove, ['query', 'file:///a/node_modules/@x/pg/node_modules/pool/lib/i.js']], ms: 4 },
      { calls: [['load', 'node:internal/modules/esm/loader']], ms: 6 },
      { calls: [['tick', 'node:internal/process/task_queues']], ms: 7 },
      { calls: [prove, ['post', 'file:///a/test/bench/dist/profile-hook.js']], ms: 50 },
    ]),
  ]);
  expect(ms).toBe(28);
  expect(Object.fromEntries(rooms)).toEqual({
    'packages/chain': 9,
    '(garbage collector)': 2,
    'node_modules/pool': 4,
    'loading modules': 6,
    'Node itself': 7,
  });
  expect(functions.get('parse')).toBe(5);
  expect(functions.get('prove packages/chain/prove/roots.js:10')).toBe(1);
});

it('takes a long time without a sample for waiting', () => {
  const waited = profile([{ calls: [prove], ms: 2 }]);
  waited.timeDeltas[1] = 60_000;
  expect(toShares([waited]).ms).toBe(3);
});

it('draws each function as wide as its time, above its callers', () => {
  const { root } = toShares([
    profile([
      { calls: [prove, ['a<b', '']], ms: 30 },
      { calls: [prove], ms: 10 },
      { calls: [['other', '']], ms: 60 },
    ]),
  ]);
  const svg = flameGraph(root, 'title');
  const drawn = [...svg.matchAll(/translate\(([\d.]+),(-\d+)\)"><title>([^:]*).*?width="([\d.]+)"/g)].map(
    ([, x, y, name, width]) => [name, Number(x), Number(y), Number(width)],
  );
  expect(drawn).toEqual([
    ['all', 0, -16, 1600],
    ['other', 0, -32, 960],
    ['prove packages/chain/prove/roots.js', 960, -32, 640],
    ['a&#60;b', 960, -48, 480],
  ]);
});
