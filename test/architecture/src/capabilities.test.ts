import { describe, expect, it } from 'vitest';
import { type Capability, checkCapabilities } from './capabilities.js';

const table: Capability[] = [
  { name: 'all', folders: ['packages/'], lines: 10 },
  { name: 'the part', folders: ['packages/a/part/'], lines: 20 },
];
const file = (path: string, lines: number) => ({ path, text: 'x\n'.repeat(lines) });

describe('the table of capabilities', () => {
  it('takes what is within a tenth of its numbers, and gives a file to the longest folder', () => {
    const files = [file('packages/a/a.ts', 11), file('packages/a/part/a.ts', 19)];
    expect(checkCapabilities(table, files)).toEqual([]);
  });

  it('names what grew, what shrank, and files of nobody', () => {
    const files = [file('packages/a.ts', 12), file('packages/a/part/a.ts', 18), file('apps/a.ts', 1)];
    expect(checkCapabilities(table, files)).toEqual([
      'apps/a.ts belongs to no capability',
      '"all" has 12 lines, over 10 and a tenth: cut, or say why in the commit',
      '"the part" has 18 lines, and its table says 20',
    ]);
  });
});
