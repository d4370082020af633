import { describe, expect, it, test } from 'vitest';
import { checkBullets, checkLength, checkLinks } from './check-markdown.js';

const LONG = 'one two three four five six seven eight';

describe('bullets that are written twice', () => {
  it('are found in one document and in two, over several lines too', () => {
    const a = { path: 'a.md', text: `- ${LONG}\n- other\n- one two three\n  four five six seven eight\n` };
    const b = { path: 'b.md', text: `# B\n\n1. ${LONG}\n` };
    expect(checkBullets([a, b])).toEqual([
      `a.md:3 repeats the bullet of a.md:1: ${LONG}`,
      `b.md:3 repeats the bullet of a.md:1: ${LONG}`,
    ]);
  });

  it('are none if they are short, differ, or are lines of code', () => {
    const text = `- one two\n- one two\n- ${LONG}\n- ${LONG} nine\n\n\`\`\`sh\n- ${LONG}\n\`\`\`\n`;
    expect(checkBullets([{ path: 'a.md', text }])).toEqual([]);
  });
});

describe('links that lead nowhere', () => {
  const exists = (path: string): boolean => ['docs/a.md', 'docs/b.md', 'packages/a/src/a.ts'].includes(path);
  const check = (text: string, path = 'docs/a.md') =>
    checkLinks(
      [
        { path, text },
        { path: 'docs/b.md', text: '# B and `c`: d\n' },
      ],
      exists,
    );

  it.each([
    ['[b](gone.md)', 'docs/a.md links to gone.md, which is not there'],
    ['[b](docs/b.md)', 'docs/a.md links to docs/b.md, which is not there'],
    ['[b](b.md#gone)', 'docs/a.md links to b.md#gone, which is not there'],
    ['[b](#gone)', 'docs/a.md links to #gone, which is not there'],
    ['see `packages/a/src/gone.ts`', 'docs/a.md names packages/a/src/gone.ts, which is not there'],
  ])('are found: %s', (text, breach) => {
    expect(check(text)).toEqual([breach]);
  });

  it.each([
    '[b](b.md#b-and-c-d)',
    '[b](https://example.org/gone)',
    '`[b](gone.md)`',
    '`packages/a/src/a.ts`',
  ])('are not: %s', (text) => {
    expect(check(text)).toEqual([]);
  });

  it('are found in a README from its own folder', () => {
    expect(check('`src/a.ts` and `src/gone.ts`', 'packages/a/README.md')).toEqual([
      'packages/a/README.md names src/gone.ts, which is not there',
    ]);
  });
});

test('documents together have no more words than they may, and the longest are named', () => {
  const documents = [
    { path: 'a.md', text: '# A\n\none two\n' },
    { path: 'b.md', text: '| one | two |\n' },
  ];
  expect(checkLength(documents, 9)).toEqual([]);
  expect(checkLength(documents, 7)).toEqual(['the documents have 9 words, 2 more than 7: b.md 5, a.md 4 …']);
});
