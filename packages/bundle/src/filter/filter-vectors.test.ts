import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { buildSkipFilter, mayContain } from './skip-filter.js';

const page = readFileSync(new URL('../../../../docs/formats.md', import.meta.url), 'utf8');
const reader = /```python\n([\s\S]+?)```/.exec(page)?.[1] as string;
const vectors = page.split('\n').flatMap((line) => {
  const [, items, filter] = /^\| (none|`[0-9a-f].*) \| `(5048[0-9a-f]+)` \|$/.exec(line) ?? [];
  if (items === undefined || filter === undefined) return [];
  return [{ items: items.match(/[0-9a-f]{40,}/g) ?? [], filter }];
});
const hex = (text: string): Buffer => Buffer.from(text, 'hex');
const hasPython = spawnSync('python3', ['--version']).status === 0;

describe('docs/formats.md', () => {
  it('has the filters that are built', () => {
    expect(vectors.map(({ items }) => items.length)).toEqual([0, 1, 3]);
    for (const { items, filter } of vectors) {
      expect(Buffer.from(buildSkipFilter(items.map(hex))).toString('hex')).toBe(filter);
    }
  });

  it.skipIf(!hasPython)('has a reader that says the same (skipped without python3)', () => {
    const others = Array.from({ length: 300 }, (_, n) => n.toString(16).padStart(40, '0'));
    const filter = buildSkipFilter(others.slice(0, 150).map(hex));
    const asked = [
      ...vectors.flatMap((vector) => vectors[2]?.items.map((item) => ({ ...vector, item })) ?? []),
      ...others.map((item) => ({ filter: Buffer.from(filter).toString('hex'), item })),
    ];
    const input = asked.map((each) => `${each.filter} ${each.item}\n`).join('');
    const { stdout } = spawnSync('python3', ['-c', reader], { input, encoding: 'utf8' });
    const expected = asked.map((each) => (mayContain(hex(each.filter), hex(each.item)) ? 'yes' : 'no'));
    expect(stdout.trim().split('\n')).toEqual(expected);
    expect(expected.slice(0, 9).join(' ')).toBe('no no no yes no no yes yes yes');
  });
});
