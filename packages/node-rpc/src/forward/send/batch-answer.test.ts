import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readBatchAnswer } from './batch-answer.js';

type BatchItem = NonNullable<ReturnType<typeof readBatchAnswer>>[0];

/** The text of each answer; absent: the call has none. */
function read(text: string, calls: number): (string | undefined)[] | null {
  return readBatchAnswer(Buffer.from(text), calls)?.map(said) ?? null;
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
  ['[{"id":"1","result":1},{"id":2,"result":2}]', [undefined, '2']],
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
