import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { manifestCursor, sequenceOfCursor } from './manifest-part.js';

const log = { network: 'ethereum', kind: 'logs' } as const;

describe('the manifest cursor', () => {
  it('is read back as what it was made of', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1, max: 2 ** 31 - 1 }), (sequence) => {
        expect(sequenceOfCursor(manifestCursor(log, sequence), log)).toBe(sequence);
      }),
    );
  });

  it('may be a bare sequence number, and absent is before the first', () => {
    expect(sequenceOfCursor('41', log)).toBe(41);
    expect(sequenceOfCursor(undefined, log)).toBe(-1);
  });

  it('of another network or kind is refused in one sentence that names both', () => {
    for (const text of ['holesky:logs:1', 'ethereum:blocks:1']) {
      expect(() => sequenceOfCursor(text, log)).toThrow(
        /^This cursor belongs to .*, not of logs of ethereum\.$/,
      );
    }
  });

  it.each([
    '',
    ' 1',
    '-2',
    '1.5',
    '0x1',
    'x',
    'ethereum:logs:',
    ':logs:1',
    'ethereum:1',
    '99999999999',
    '1\n',
    '<b>',
  ])('refuses %j', (text) => {
    expect(() => sequenceOfCursor(text, log)).toThrow(expect.objectContaining({ reason: 'cursor-invalid' }));
  });
});
