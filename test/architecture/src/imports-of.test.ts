import { expect, it } from 'vitest';
import { codeOnly, getExports, getImports } from './imports-of.js';

it('finds imports of every form, and which of them are erased', () => {
  const source = `import a from 'a';
import { b, type C } from "b";
import type { D } from './d.js';
import * as e from 'e';
import 'side-effect';
export { f } from './f.js';
export type { G } from './g.js';
import {
  h,
  i,
} from 'multi-line';
const j = await import('j');
const k = import.meta.resolve('k');
`;
  expect(
    getImports(source).map(({ specifier, typeOnly }) => `${specifier}${typeOnly ? ' (type)' : ''}`),
  ).toEqual([
    'a',
    'b',
    './d.js (type)',
    'e',
    'side-effect',
    './f.js',
    './g.js (type)',
    'multi-line',
    'j',
    'k',
  ]);
});

it('takes no comment and no string for an import', () => {
  const source = `// import a from 'a';
/* import b from 'b'; */
const c = "http://x"; // import d from 'd'
const text = 'taken from "e"';
const called = "import('f')";
const lines = \`
import g from 'g';
\`;
`;
  expect(getImports(source)).toEqual([]);
});

it('blanks comments and strings, line by line', () => {
  expect(codeOnly("a('x'); // b\n`c` + d")).toBe('a(   );     \n    + d');
});

it('reads which names are imported, by the names that the other file gives them', () => {
  const source = `import a, { type B as C, d } from 'x';
import * as e from 'x';
import 'x';
export { f as g, type H } from 'x';
const i = await import('x');
`;
  expect(getImports(source).map(({ names }) => names)).toEqual([
    ['default', 'B', 'd'],
    ['*'],
    [],
    ['f', 'H'],
    ['*'],
  ]);
});

it('reads which names are exported', () => {
  const source = `export const a = 1;
export async function b() {}
export function* c() {}
export abstract class D {}
export interface E {}
export type F = string;
export { g as h, type I };
export type { J } from './j.js';
// export const k = 1;
const l = 'export const m = 1';
`;
  expect(getExports(source)).toEqual(['a', 'b', 'c', 'D', 'E', 'F', 'h', 'I', 'J']);
});
