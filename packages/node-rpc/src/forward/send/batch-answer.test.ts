import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readBatchAnswer, readJointAnswer } from './batch-answer.js';

type BatchItem = NonNullable<ReturnType<typeof readBatchAnswer>>['items'][0];

/** The text of each answer; absent: the call has none. */
function read(text: string, calls: number): (string | undefined)[] | null {
  return readBatchAnswer(Buffer.from(text), { firstId: 1, calls })?.items.map(said) ?? null;
}

function said(item: BatchItem | undefined): string | undefined {
  if (item === undefined) return undefined;
  const { read } = item;
  if (read.kind === 'result') return read.body.bytes.toString();
  return read.kind === 'error' ? `error ${read.error}` : read.kind;
}

it.each([
  ['[{"id":1,"result":"a"},{"id":2,"result":"b"}]', ['"a"', '"b"']],
  [' [ {"id":2,"result":[1, 2]} ,\n{"result":1e400,"id":1} ] ', ['1e400', '[1, 2]']],
  [
    '[{"id":1,"error":{"code":3,"message":"m"}},{"id":2,"result":null}]',
    ['error {"code":3,"message":"m"}', 'null'],
  ],
  // Left out, of another call, without an id, or for two calls at once.
  ['[{"id":2,"result":1}]', [undefined, '1']],
  ['[{"id":3,"result":1},{"id":2,"result":2}]', [undefined, '2']],
  ['[{"id":null,"error":{"code":1,"message":""}},{"id":0,"result":2}]', [undefined, undefined]],
  ['[{"id":"1","result":1},{"id":2,"result":2}]', ['1', '2']],
  ['[{"id":1.5,"result":1},{"id":2,"result":2}]', [undefined, '2']],
  // Two answers to one call: neither counts.
  ['[{"id":1,"result":1},{"id":2,"result":2},{"id":1,"result":3}]', [undefined, '2']],
  // No JSON-RPC, no JSON, two values.
  ['[{"id":1,"result":{]}},{"id":2,"result":2}]', [undefined, undefined]],
  ['[{"id":1,"result":x},{"id":2,"result":2}]', [undefined, '2']],
  ['[{"id":1,"result":1,"error":{"code":1,"message":""}},{"id":2,"result":2}]', [undefined, '2']],
  ['[1,{"id":2,"result":2}]', [undefined, '2']],
  // Cut off.
  ['[{"id":1,"result":1},{"id":2,"result":', [undefined, undefined]],
  ['[]', [undefined, undefined]],
])('reads %s', (text, answers) => {
  expect(read(text, 2)).toEqual(answers);
});

it.each(['{"id":null,"error":{"code":-32600,"message":"no batches"}}', '', '<html>', 'null'])(
  'takes %s for no list',
  (text) => {
    expect(read(text, 2)).toBeNull();
  },
);

it('finds the answers that JSON.parse finds, in any order, and passes their bytes on', () => {
  const results = fc.array(fc.tuple(fc.json({ noUnicodeString: false }), fc.nat()), {
    minLength: 1,
    maxLength: 20,
  });
  fc.assert(
    fc.property(results, fc.constantFrom('', ' ', '\n '), (values, space) => {
      const items = values.map(
        ([text], at) => `${space}{"id":${space}${at + 1},"result":${text}${space},"more":[{"id":9}]}`,
      );
      const order = [...items.keys()].sort((a, b) => (values[a]?.[1] ?? 0) - (values[b]?.[1] ?? 0));
      const answers = read(`[${order.map((at) => items[at]).join(`${space},`)}]`, values.length);
      expect(answers?.map((answer) => answer?.trim())).toEqual(values.map(([text]) => text.trim()));
    }),
  );
});

it('never makes an answer of bytes that JSON.parse refuses', () => {
  const text = '[{"jsonrpc":"2.0","id":1,"result":{"a":["x\\"y",1]}},{"id":2,"result":"0x1"}]';
  const change = fc.tuple(fc.nat(text.length - 1), fc.constantFrom(...'{}[]",:\\ 10a', ''));
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 3 }), (changes) => {
      let changed = text;
      for (const [at, by] of changes) changed = changed.slice(0, at) + by + changed.slice(at + 1);
      for (const answer of read(changed, 2) ?? []) {
        if (answer !== undefined) expect(() => JSON.parse(answer.replace('error ', ''))).not.toThrow();
      }
    }),
    { numRuns: 3_000 },
  );
});

it('gives a call the one answer with its id, and tells of every answer that nobody asked for', () => {
  const firstId = fc.integer({ min: 1, max: 2 ** 31 });
  /** How often each call is answered, and answers to other requests: offsets from its first id. */
  const times = fc.array(fc.constantFrom(1, 1, 1, 0, 2), { minLength: 2, maxLength: 12 });
  const foreign = fc.array(fc.constantFrom(-1_000, -1, 0.5, 12, 1_000, null), { maxLength: 2 });
  fc.assert(
    fc.property(firstId, times, foreign, fc.infiniteStream(fc.nat()), (first, counts, others, order) => {
      const own = counts.flatMap((count, at) => Array<object>(count).fill({ id: first + at, result: at }));
      const strange = others.map((offset) => ({ id: offset === null ? null : first + offset, result: 'x' }));
      const sent = [...own, ...strange]
        .map((one) => ({ one, place: order.next().value as number }))
        .sort((a, b) => a.place - b.place)
        .map(({ one }) => one);
      const calls = counts.length;
      const { items, isCrossed } =
        readBatchAnswer(Buffer.from(JSON.stringify(sent)), { firstId: first, calls }) ?? {};
      expect(items?.map(said)).toEqual(counts.map((count, at) => (count === 1 ? String(at) : undefined)));
      expect(isCrossed).toBe(others.length > 0 || counts.includes(2));
    }),
  );
});

it.each([
  ['{"id":41,"error":{"code":1}}', 'nonsense'],
  ['{"id":41,"result":1}', 'nonsense'],
  ['{"id":8,"error":{"code":1}}', 'error'],
  ['{"id":null,"error":{"code":1}}', 'error'],
  ['{"error":{"code":1}}', 'error'],
])('takes %s for one answer to all of them only if it may be', (text, kind) => {
  expect(readJointAnswer(Buffer.from(text), { firstId: 7, calls: 2 }).kind).toBe(kind);
});
