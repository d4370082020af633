import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { filterOfBundle } from '../bundle-filter.js';
import { type Fragment, toFragment } from '../layout/fragment.js';
import { spliceMember } from '../splice-member.js';
import { readFilter } from './filter-file.js';
import { distinctDigests, mayHold, toDigests } from './item-set.js';

const page = readFileSync(new URL('../../../../docs/formats.md', import.meta.url), 'utf8');
const reader = /```python\n([\s\S]+?)```/.exec(page)?.[1] as string;
const vectors = page.split('\n').flatMap((line) => {
  const [, items, filter] = /^\| (none|`[0-9a-f].*) \| `(5048[0-9a-f]+)` \|$/.exec(line) ?? [];
  if (items === undefined || filter === undefined) return [];
  return [{ items: items.match(/[0-9a-f]{40,}/g) ?? [], filter }];
});
const hex = (text: string): Buffer => Buffer.from(text, 'hex');
const hasPython = spawnSync('python3', ['--version']).status === 0;

/** Fragments of a block each, stored, with these items; block 0 is one second after 1970, and so on. */
async function getFilter(...items: readonly Buffer[][]): Promise<string> {
  const text = Buffer.from(`[${' '.repeat(items.length > 1 ? 20_000 : 0)}]`);
  const length = Buffer.alloc(4);
  length.writeUInt16LE(text.length, 0);
  length.writeUInt16LE(text.length ^ 0xffff, 2);
  const body = Buffer.concat([Buffer.of(0), length, text, hex('000000ffff')]);
  const piece = { body, rawLength: text.length, crc32: crc32(text) };
  const fragments: Fragment[] = items.map((_, n) => toFragment({ firstBlock: n, lastBlock: n }, piece));
  const bodies = fragments.map((fragment) => fragment.body);
  const bytes = Buffer.concat(spliceMember(fragments, bodies).chunks);
  const known = { items: items.map((own) => toDigests(own)), times: items.map((_, n) => n + 1) };
  return (await filterOfBundle({ kind: 'logs', fragments, bytes }, known)).toString('hex');
}

describe('docs/formats.md', () => {
  it('has the filters that are built', async () => {
    expect(vectors.map(({ items }) => items.length)).toEqual([0, 1, 3]);
    for (const { items, filter } of vectors) expect(await getFilter(items.map(hex))).toBe(filter);
  });

  it.skipIf(!hasPython)('has a reader that says the same (needs python3)', async () => {
    const others = Array.from({ length: 300 }, (_, n) => n.toString(16).padStart(40, '0'));
    const filter = await getFilter(others.slice(0, 150).map(hex), [], others.slice(100, 200).map(hex));
    const asked = [
      ...vectors.flatMap((vector) => vectors[2]?.items.map((item) => ({ ...vector, item })) ?? []),
      ...others.map((item) => ({ filter, item })),
    ];
    const input = asked.map((each) => `${each.filter} 0 ${each.item}\n`).join('');
    const { stdout, stderr } = spawnSync('python3', ['-c', reader], { input, encoding: 'utf8' });
    expect(stderr).toBe('');
    const expected = asked.map((each) => {
      const digests = distinctDigests([toDigests([hex(each.item)])]);
      const parts = readFilter(hex(each.filter), 0).parts.filter(({ items }) => mayHold(items, digests));
      const shown = parts.map(
        ({ firstBlock, lastBlock, start, byteLength }) =>
          `${firstBlock}-${lastBlock}@${start}-${start + byteLength - 1}`,
      );
      return shown.join(' ') || 'none';
    });
    expect(stdout.trim().split('\n')).toEqual(expected);
    expect(expected.slice(0, 9).map((shown) => shown === 'none')).toEqual(
      [1, 1, 1, 0, 1, 1, 0, 0, 0].map(Boolean),
    );
    expect(expected.filter((shown) => shown.includes(' ')).length).toBeGreaterThan(49);
  });
});
