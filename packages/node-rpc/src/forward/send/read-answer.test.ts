import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AnswerReader, type NoAnswer, type ReadAnswer } from './read-answer.js';

/** Reads an answer that comes in these pieces. */
function read(pieces: readonly Buffer[], maxBytes = 1_000_000): ReadAnswer {
  const reader = new AnswerReader({ maxBytes }, 1);
  let fault: NoAnswer | null = null;
  for (const piece of pieces) fault ??= reader.push(piece);
  return fault ?? reader.end() ?? reader.whole();
}

/** The kind and the text of the value, or what is wrong. */
function said(answer: ReadAnswer): string {
  if (answer.kind === 'result') return `result ${answer.body.bytes}`;
  if (answer.kind === 'error') return `error ${answer.error}`;
  return answer.kind === 'nonsense' ? answer.what : answer.kind;
}

function cut(bytes: Buffer, size: number): Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
    bytes.subarray(at * size, (at + 1) * size),
  );
}

/** More than is read before the value is looked for. */
const LONG = `"${'ab'.repeat(5_000)}"`;

it.each([
  ['{"jsonrpc":"2.0","id":1,"result":"0x1"}', 'result "0x1"'],
  ['{"jsonrpc":"2.0","id":1,"result":null}\n', 'result null'],
  ['{"jsonrpc":"2.0","result":{"a":1,"id":7},"id":1}', 'result {"a":1,"id":7}'],
  ['{"jsonrpc":"2.0","id":1,"result":{"a":1,"id":7}}', 'result {"a":1,"id":7}'],
  ['{"result":[1,2], "id": 1, "jsonrpc": "2.0"}', 'result [1,2]'],
  ['{"result":[1,2], "id":1, "usage": {"units": 2}}', 'result [1,2]'],
  ['{ "id" : "1" , "result" : "a\\",\\"id\\":1}" }', 'result "a\\",\\"id\\":1}"'],
  ['{"jsonrpc":"2.0","id":1,"error":null,"result":true}', 'result true'],
  ['{"jsonrpc":"2.0","id":1,"result":true,"error":null}', 'result true'],
  [
    '{"jsonrpc":"2.0","id":1,"error":{"code":3,"message":"m","data":"0x"}}',
    'error {"code":3,"message":"m","data":"0x"}',
  ],
  // Errors may lack it.
  ['{"error":{"code":-1,"message":"m"},"id":null}', 'error {"code":-1,"message":"m"}'],
  ['{"id":null,"error":{"code":-1,"message":"m"}}', 'error {"code":-1,"message":"m"}'],
  ['{"error":{"code":-1,"message":"m"}}', 'error {"code":-1,"message":"m"}'],
  ['{"id":null,"result":null,"error":{"code":-1}}', 'error {"code":-1}'],
  ['{"id":1,"result":null,"error":{"code":-1}}', 'error {"code":-1}'],
  [`{"id":1,"result":${LONG},"more":0}`, `result ${LONG}`],
  // Members of any form, in any order.
  ['{"jsonrpc":"2.0","extra":[{"result":"no"}],"result":"0x1","id":1}', 'result "0x1"'],
  ['{"extra":{"id":9,"result":[1,{"error":{}}]},"id":1,"result":{"result":2}}', 'result {"result":2}'],
  ['{"a":[],"b":{},"c":[[]],"d":"]}","id":1,"result":null,"e":[{"result":3}]}', 'result null'],
  ['{"extra":[{"error":{"code":1}}],"error":{"code":2},"id":1}', 'error {"code":2}'],
  ['{"error":null,"extra":{"a":1},"result":[0],"id":1}', 'result [0]'],
  ['{"extra":[{"a":"\\"]}"}],"result":"b","id":1}', 'result "b"'],
  [`{"extra":[${LONG},{"result":${LONG}}],"result":[1],"id":1}`, 'result [1]'],
])('reads the value of %s, in any pieces', (text, value) => {
  const bytes = Buffer.from(text);
  for (const size of [1, 2, 7, 5_000, bytes.length]) expect(said(read(cut(bytes, size)))).toBe(value);
});

const NO_JSON_RPC = 'something that is not JSON-RPC';
const NO_JSON = 'an answer that is not JSON';
const OTHER_ID = 'an answer with another id';
const BREAKS_OFF = 'an answer that breaks off';
const MORE = 'an answer that does not end behind its value';

it.each([
  ...['', '[]', '<html>', '"result"', '{"jsonrpc":"2.0","id":1}'].map((text) => [text, NO_JSON_RPC]),
  ['{"id":{"result":1},"x":2}', NO_JSON_RPC],
  ['{"extra":[{"result":1}]}', NO_JSON_RPC],
  ['{"extra":[{"result":1}],"id":1', NO_JSON_RPC],
  ['{"extra":[{],"result":1,"id":1}', NO_JSON_RPC],
  ['{"extra":[{]},"result":1,"id":1}', NO_JSON_RPC],
  ['{"extra":{"a"},"result":1,"id":1}', NO_JSON_RPC],
  [`{"extra":["${'ab'.repeat(40_000)}"],"result":1}`, NO_JSON_RPC],
  ['{"id":[1],"result":1}', OTHER_ID],
  ['{"error":"no","result":1,"id":1}', 'an answer with two values'],
  ['{"error":[],"extra":{},"result":null,"id":1}', 'an answer with two values'],
  ['{"jsonrpc":"2.0","id":1,"result":"0x1"', MORE],
  ['{"jsonrpc":"2.0","id":1,"result":[1,2', BREAKS_OFF],
  // The last bracket is not the envelope's.
  ['{"jsonrpc":"2.0","id":1,"result":{"a":{"b":1}}', MORE],
  ['{"jsonrpc":"2.0","id":1,"result":{"a":{"b":1}', BREAKS_OFF],
  ['{"jsonrpc":"2.0","id":1,"result":[{"a":1},{"b":2}', BREAKS_OFF],
  ['{"id":1,"result":"0x1"},{"id":2,"result":"0x2"}', MORE],
  ['{"id":1,"result":"0x1"}}', MORE],
  ['{"id":1,"result":[1,]}', NO_JSON],
  ['{"id":1,"result":{"a":1]}', NO_JSON],
  ['{"id":1,"result":nil}', NO_JSON],
  ['{"id":1,"result":1,"result":2}', 'an answer with two values'],
  ['{"id":1,"result":1,"error":{"code":1}}', 'an answer with two values'],
  ['{"id":2,"result":1}', OTHER_ID],
  ['{"result":1,"id":2}', OTHER_ID],
  ['{"id":null,"result":1}', OTHER_ID],
  ['{"id":2,"error":{"code":1}}', OTHER_ID],
  ['{"result":1}', OTHER_ID],
  ['{"id":"","result":1}', OTHER_ID],
  ['{"id":"2","result":1}', OTHER_ID],
  ['{"id":[1],"error":{"code":1}}', OTHER_ID],
  ['{"error":{"code":1},"id":2}', OTHER_ID],
  // Whichever of them counts.
  ['{"id":1,"result":1,"id":2}', OTHER_ID],
  ['{"id":2,"result":1,"id":1}', OTHER_ID],
  [`{"id":1,"result":1,"more":${LONG}}`, MORE],
])('finds fault with %s, in any pieces', (text, what) => {
  const bytes = Buffer.from(text as string);
  for (const size of [1, 2, 7, bytes.length + 1]) expect(said(read(cut(bytes, size)))).toBe(what);
});

describe('whatever a node sends', () => {
  it('what is handed on in another envelope is JSON, and nothing but the value', () => {
    const text = fc.oneof(
      fc.json(),
      fc.tuple(fc.json(), fc.nat()).map(([json, at]) => json.slice(0, at % (json.length + 1))),
      fc.tuple(fc.json(), fc.json()).map(([one, two]) => `${one}},{"id":2,"result":${two}`),
    );
    fc.assert(
      fc.property(text, fc.constantFrom('}', ',"id":1}', '}}', ''), (value, end) => {
        const answer = read([Buffer.from(`{"jsonrpc":"2.0","id":1,"result":${value}${end}`)]);
        if (answer.kind !== 'result') return;
        const sent = `{"jsonrpc":"2.0","id":7,"result":${answer.body.bytes}}`;
        expect(Object.keys(JSON.parse(sent) as object)).toEqual(['jsonrpc', 'id', 'result']);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('a list or an object', () => {
  const container = fc.json().filter((text) => /^[[{]/.test(text));
  const envelope = fc.constantFrom(',"id":1}', ',"id":"1","more":[]}');
  const passed = (text: string, size = 65_536): string => said(read(cut(Buffer.from(text), size)));

  it('is read to its end, in any pieces', () => {
    fc.assert(
      fc.property(container, envelope, fc.integer({ min: 1, max: 99 }), (value, end, size) => {
        expect(passed(`{"result":${value}${end}`, size)).toBe(`result ${value}`);
      }),
    );
  });

  it('is found to break off, wherever it does', () => {
    fc.assert(
      fc.property(container, envelope, (value, end) => {
        const text = `{"jsonrpc":"2.0","result":${value}${end}`;
        for (let length = 0; length < text.length; length++) {
          expect(passed(text.slice(0, length))).not.toMatch(/^result/);
        }
      }),
      { numRuns: 50 },
    );
  });

  it('is refused if a bracket or a quote is left out, added, or another one', () => {
    const other = fc.constantFrom(...'{}[]"', '');
    fc.assert(
      fc.property(container, envelope, other, fc.nat(), fc.boolean(), (value, end, mark, where, adds) => {
        const marks = [...value.matchAll(/"(?:[^"\\]|\\.)*(")|[[\]{}"]/g)].map(({ 0: { length }, index }) =>
          length > 1 && where % 2 === 0 ? index + length - 1 : index,
        );
        const at = marks[where % marks.length] as number;
        const forged = value.slice(0, at) + mark + value.slice(adds ? at : at + 1);
        const text = `{"result":${forged}${end}`;
        // A bracket that is added within a string is nothing but text.
        if (!isJson(text)) expect(passed(text)).not.toMatch(/^result/);
      }),
      { numRuns: 3_000 },
    );
  });

  it.each(['NaN', 'undefined', '"0x1",', '01', '+1', "'0x1'", '"\\x41"', 'nil', '1 2'])(
    'is refused with %s in it, and so is that alone',
    (wrong) => {
      const block = `{"number":"0x1","timestamp":${wrong},"transactions":[]}`;
      for (const size of [1, 7, 65_536]) expect(passed(`{"result":${block},"id":1}`, size)).toBe(NO_JSON);
      expect(passed(`{"id":1,"result":${wrong}}`)).not.toMatch(/^result/);
    },
  );
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

it('stays in pieces if it is large, and is joined when somebody wants it so', () => {
  const value = `"${'ab'.repeat(400_000)}"`;
  const answer = read(cut(Buffer.from(`{"id":1,"result":${value}}`), 500_000));
  if (answer.kind !== 'result') throw new Error('no result');
  expect(answer.body.pieces?.map(({ length }) => length)).toEqual([499_983, 300_019]);
  expect(answer.body.bytes.toString() === value).toBe(true);
});

it('is too large beyond its limit', () => {
  const bytes = Buffer.from(`{"id":1,"result":"${'a'.repeat(20_000)}"}`);
  expect(said(read(cut(bytes, 1_000), 20_001))).toBe('too-large');
  expect(said(read(cut(bytes, 1_000), 20_002))).toBe(`result "${'a'.repeat(20_000)}"`);
});
