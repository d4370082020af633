import { describe, expect, it } from 'vitest';
import { checkPaths } from './check-paths.js';

const PATH = 'packages/a/src/b/c.test.ts';
const check = (text: string, path = PATH) => checkPaths({ path, text });
const breach = (found: string, path = PATH): string =>
  `${path} names ${found}, which a clone does not have: let a variable name it`;

describe('paths that lead out of the repository', () => {
  it.each([
    ["import x from '../../../../../x.js';", '../../../../../x.js'],
    ["import('./../../../../../x.js')", './../../../../../x.js'],
    ["new URL('../../../../../data/', import.meta.url)", '../../../../../data'],
    ['new URL(`../../../../../$' + '{name}.gz`, import.meta.url)', '../../../../..'],
    ["path.join(here, '../../../../..')", '../../../../..'],
    ["'../../../../../'", '../../../../..'],
    ["'../d/../../../../../../x'", '../d/../../../../../../x'],
  ])('are found in a source: %s', (text, found) => {
    expect(check(text)).toEqual([breach(found)]);
  });

  it('are found in links of a page and in the members of JSON', () => {
    expect(check('[b](../../b.md)', 'docs/a.md')).toEqual([breach('../../b.md', 'docs/a.md')]);
    expect(check('{"path": "../a"}', 'tsconfig.json')).toEqual([breach('../a', 'tsconfig.json')]);
  });

  it.each([
    "import x from '../../../../x.js';",
    "new URL('../../../../docs/a.md', import.meta.url)",
    "[...list, ...'..'].slice(1..2)",
    '/** Blocks 1..3, and so on... */',
    "'https://example.org/a/../../../../../../b'",
  ])('are not: %s', (text) => {
    expect(check(text)).toEqual([]);
  });
});

describe('folders beside the repository', () => {
  it.each([
    ['needs ../shared', '../shared'],
    ["process.env.X ?? '/work/chain-data'", 'chain-data'],
  ])('are found: %s', (text, found) => {
    expect(check(text)).toEqual([breach(found)]);
  });

  it('are not, where a folder has the name of one', () => {
    expect(check("import { x } from '../shared/x';", 'packages/kernels/kernel/scan/scan.ts')).toEqual([]);
    expect(check("import { x } from './shared/x'; // chained data, not-shared/x")).toEqual([]);
  });
});
