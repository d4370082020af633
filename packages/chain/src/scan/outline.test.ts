import { type Outlined, outlineAnswer } from '@packhouse/kernels';
import { ALL } from '@packhouse/recordings';
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';

const outline = (text: string): Outlined | null => outlineAnswer(Buffer.from(text, 'latin1'));
const cut = (text: string, { start, end }: { start: number; end: number }): string => text.slice(start, end);

/** Compares an outline with what the text is parsed to, on the levels that are looked into. */
function expectSame(text: string, found: Outlined, value: unknown, levels: number): void {
  expect(JSON.parse(cut(text, found))).toEqual(value);
  const looked = typeof value === 'object' && value !== null && levels > 0;
  if (looked && !Array.isArray(value)) {
    const members = Object.entries(value);
    expect(found.children()).toHaveLength(members.length);
    for (const [name, each] of members) expectSame(text, found.member(name) as Outlined, each, levels - 1);
    return;
  }
  expect(found.children()).toEqual([]);
  const isObject = (each: unknown): boolean =>
    typeof each === 'object' && each !== null && !Array.isArray(each);
  const counted = Array.isArray(value) && value.every(isObject);
  expect(found.objects).toBe(counted ? value.length : null);
  if (!counted || value.length === 0) expect(found.first).toBeNull();
  else expect(JSON.parse(cut(text, found.first as { start: number; end: number }))).toEqual(value[0]);
}

const space = fc.stringMatching(/^[ \n\r\t]{0,3}$/);
/** A JSON text with white space between its tokens, and none of it in strings. */
function spaced(value: unknown, blanks: readonly string[]): string {
  let at = 0;
  const blank = (): string => blanks[at++ % blanks.length] as string;
  const write = (each: unknown): string => {
    if (typeof each !== 'object' || each === null) return JSON.stringify(each);
    const [open, shut] = Array.isArray(each) ? '[]' : '{}';
    const items = Array.isArray(each)
      ? each.map(write)
      : Object.entries(each).map(
          ([name, own]) => `${JSON.stringify(name)}${blank()}:${blank()}${write(own)}`,
        );
    return `${open}${blank()}${items.map((item) => item + blank()).join(`,${blank()}`)}${shut}`;
  };
  return blank() + write(value) + blank();
}

const asciiJson = (depth: number): fc.Arbitrary<unknown> =>
  fc.json({ maxDepth: depth, stringUnit: 'binary-ascii' }).map((text) => JSON.parse(text) as unknown);
const named = fc.dictionary(fc.stringMatching(/^[a-zA-Z]{1,80}$/), asciiJson(5), { maxKeys: 8 });
const result = fc.oneof(named, fc.array(named, { maxLength: 5 }), asciiJson(5));
const envelope = fc.record({ jsonrpc: fc.constant('2.0'), id: fc.nat(), result });
const hasPlainNames = (value: unknown): boolean =>
  typeof value !== 'object' || value === null || Object.keys(value).every((name) => /^[a-zA-Z]*$/.test(name));

afterEach(() => {
  // Other test files may share the modules of this one.
  vi.unstubAllGlobals();
  vi.resetModules();
});

describe('the outline of an answer', () => {
  it('says what JSON.parse says, with any white space', () => {
    const check = (value: { result: unknown }, blanks: readonly string[]): void => {
      const text = spaced(value, blanks);
      const found = outline(text);
      if (!hasPlainNames(value.result) && found === null) return;
      expectSame(text, found as Outlined, value, 2);
    };
    fc.assert(fc.property(envelope, fc.array(space, { minLength: 1, maxLength: 9 }), check), {
      numRuns: 500,
    });
  });

  it('lists the envelopes of a batch', () => {
    const batch = Array.from({ length: 100 }, (_, id) => ({
      jsonrpc: '2.0',
      id,
      result: { hash: `0x${id}` },
    }));
    for (const value of [batch, []]) {
      const text = JSON.stringify(value);
      const found = outline(text)?.children() as Outlined[];
      expect(found).toHaveLength(value.length);
      for (const [at, each] of found.entries()) expectSame(text, each, value[at], 2);
    }
  });

  it('sees strings with brackets, quotes and backslashes at any offset', () => {
    for (let pad = 0; pad < 130; pad++) {
      for (const nasty of ['"', '\\', '\\"', '}]', '"}', '\\\\"]', '\u0001"', '\\'.repeat(65)]) {
        const value = { id: 1, result: [{ a: `${'x'.repeat(pad)}${nasty}${'y'.repeat(pad)}`, b: [{}] }, {}] };
        const text = JSON.stringify(value);
        expectSame(text, outline(text) as Outlined, value, 2);
      }
    }
  });

  it('declines what is cut off, goes on, or is not balanced', () => {
    const text = JSON.stringify({
      id: 1,
      result: { hash: '0x1', transactions: [{ a: [{ b: '\\"' }] }], c: 5 },
    });
    for (let length = 0; length < text.length; length++) expect(outline(text.slice(0, length))).toBeNull();
    for (const more of ['}', ']', '{}', ',', '0', '"', '\\']) expect(outline(text + more)).toBeNull();
    for (const wrong of ['}', ']', '"', '\\', '\0']) expect(outline(text.replace('{"b"', wrong))).toBeNull();
    for (const odd of [
      '{"a" 1}',
      '{"a":}',
      '{"a":1,}',
      '{,}',
      '{1:2}',
      '[1,]',
      '[,]',
      '{"a":[{},]',
      '{"a":"\n"}',
    ])
      expect(outline(odd)).toBeNull();
  });

  it('declines names with escapes, many members, and deep nesting', () => {
    expect(outline('{"res\\u0075lt":1}')).toBeNull();
    expect(outline('{"id":1,"result":{"\\"":1}}')).toBeNull();
    const members = (count: number): string =>
      JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, at) => [`a${at}`, at])));
    expect(outline(members(64))?.children()).toHaveLength(64);
    expect(outline(members(65))).toBeNull();
    const deep = (depth: number): string => `{"result":${'['.repeat(depth)}${']'.repeat(depth)}}`;
    expect(outline(deep(10_000))?.member('result')?.objects).toBeNull();
    expect(outline(deep(10_001))).toBeNull();
    expect(outline(`[${Array(16_384).fill('0').join()}]`)).toBeNull();
  });

  it('finds no member that is there twice', () => {
    const found = outline('{"result":1,"id":2,"result":3}');
    expect(found?.member('id')).toMatchObject({ start: 17, end: 18 });
    expect(found?.member('result')).toBeUndefined();
  });

  it('forgets one text for the next, also a large one for a small one', () => {
    const large = JSON.stringify({
      result: Array.from({ length: 300_000 }, (_, a) => ({ a, b: 'x'.repeat(50) })),
    });
    for (const text of [large, '{"result":[{}]}', large]) {
      const found = outline(text);
      expect(found?.end).toBe(text.length);
      expect(found?.member('result')?.objects).toBe(text === large ? 300_000 : 1);
    }
  });

  it('declines everything where Node has no WebAssembly', async () => {
    vi.stubGlobal('WebAssembly', undefined);
    vi.resetModules();
    const other = await import('@packhouse/kernels');
    for (let times = 0; times < 2; times++)
      expect(other.outlineAnswer(Buffer.from('{"result":{}}'))).toBeNull();
  });

  it.each(ALL)('says of blocks what JSON.parse says: $title', (source) => {
    for (const name of ['row', 'forks'] as const) {
      for (const row of source.blocks(name).slice(0, 6)) {
        for (const part of [row.block, row.receipts, row.traces]) {
          if (part === undefined) continue;
          const value = { jsonrpc: '2.0', id: 1, result: part };
          const text = JSON.stringify(value);
          expectSame(text, outline(text) as Outlined, value, 2);
        }
      }
    }
  });
});
