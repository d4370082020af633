import { describe, expect, it } from 'vitest';
import { checkFolders, checkFunctions, checkSpreads, getFunctions } from './check-functions.js';

const spreads = (text: string) => checkSpreads({ path: 'a.ts', text });

describe('literals that are spread into literals', () => {
  it.each([
    'const a = { ...{ b, c }, d };',
    'const a = [\n  ...[1, 2],\n  3,\n];',
    'const a = { ...({ b: 1 } as const), c };',
    "const a = [...(['x', 'y'] as const)];",
    'const a = <B {...{ c, d }} />;',
  ])('are found: %s', (text) => {
    expect(spreads(text)).toEqual([expect.stringMatching(/^a\.ts:[12] spreads a literal/)]);
  });

  it.each([
    'const a = { ...(b === undefined ? {} : { b }), ...c };',
    'const a = [...[1, 2].map(double), ...b];',
    'const a = [...([1, 2] as const).map(double)];',
    'call(...[1, 2]);',
    'const a = { ...b, c: [...d] };',
    "const a = 'write { ...{ b } } out'; // [...[1]]",
  ])('are not: %s', (text) => {
    expect(spreads(text)).toEqual([]);
  });
});

describe('functions', () => {
  const body = (lines: number): string => '  go();\n'.repeat(lines);

  it.each([
    ['a function', `export async function f(a: string): Promise<void> {\n${body(8)}}\n`, 1],
    [
      'a function with a head of several lines',
      `function f({\n  a,\n}: {\n  a: 1;\n}): A {\n${body(4)}}\n`,
      1,
    ],
    ['an arrow function', `\nconst f = (a: string) => {\n${body(8)}};\n`, 2],
    ['a callback', `call(1, async () => {\n${body(8)}});\n`, 1],
    ['a method', `const a = {\n  b: 1,\n  f(a) {\n${'    go();\n'.repeat(8)}  },\n};\n`, 3],
  ])('are measured with their head and end: %s', (_, text, line) => {
    expect(getFunctions({ path: 'a.ts', text })).toEqual([{ path: 'a.ts', line, lines: 10 }]);
  });

  it('are no conditions, loops, types, objects and texts', () => {
    const text = [
      'if (a) {\n  go();\n} else if (b) {\n  go();\n}',
      'for (const a of b) {\n  go();\n}',
      'if (\n  a\n) {\n  go();\n}',
      'try {\n  go();\n} catch (error) {\n  go();\n}',
      'interface A {\n  b(): {\n    c: 1;\n  };\n}',
      'const a = {\n  b,\n};',
      'const text = `\nfunction f() {\n}\n`;',
    ].join('\n');
    expect(getFunctions({ path: 'a.ts', text })).toEqual([]);
  });

  it('that are too long are named, and so are too many long ones', () => {
    const file = (path: string, lines: number) => ({
      path,
      text: `function f() {\n${body(lines - 2)}}\n`,
    });
    const files = [file('a.ts', 100), file('b.ts', 101), file('c.ts', 151)];
    expect(checkFunctions(files, { max: 150, long: 100, maxLong: 1 })).toEqual([
      'c.ts:1 is a function of 151 lines, over 150',
      '2 functions have more than 100 lines, 1 may: c.ts:1 (151), b.ts:1 (101)',
    ]);
    expect(checkFunctions(files, { max: 150, long: 100, maxLong: 2, excused: ['c.ts'] })).toEqual([]);
    expect(checkFunctions(files.slice(0, 2), { max: 150, long: 100, maxLong: 1 })).toEqual([]);
  });
});

it('folders of too many source files are named, and tests are not counted', () => {
  const paths = ['a/1.ts', 'a/2.tsx', 'a/2.test.ts', 'a/README.md', 'a/b/3.ts', 'a/b/4.ts', 'a/b/5.ts'];
  expect(checkFolders(paths, 2)).toEqual(['a/b has 3 source files, over 2: make rooms']);
});
