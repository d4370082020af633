import { expect, it } from 'vitest';
import { countText } from './match-logs.js';

it('counts a name', () => {
  expect(countText([Buffer.from('[{"logIndex":"0x1"},{"logIndex":"0x2"}]')], '"logIndex"')).toBe(2);
  expect(countText([Buffer.from('[]')], '"logIndex"')).toBe(0);
  const text = Buffer.from('[{"logIndex":"0x1"},{"logIndex":"0x2"}]');
  for (let first = 0; first < text.length; first++) {
    for (let second = first; second < text.length; second++) {
      const pieces = [text.subarray(0, first), text.subarray(first, second), text.subarray(second)];
      expect(countText(pieces, '"logIndex"'), `${first} ${second}`).toBe(2);
    }
  }
  expect(
    countText(
      [...text].map((byte) => Buffer.from([byte])),
      '"logIndex"',
    ),
  ).toBe(2);
});
