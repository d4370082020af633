import { expect, it } from 'vitest';
import { codeOnly, importsOf } from './imports-of.js';

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
    importsOf(source).map(({ specifier, typeOnly }) => `${specifier}${typeOnly ? ' (type)' : ''}`),
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
  expect(importsOf(source)).toEqual([]);
});

it('blanks comments and strings, line by line', () => {
  expect(codeOnly("a('x'); // b\n`c` + d")).toBe('a(   );     \n    + d');
});
