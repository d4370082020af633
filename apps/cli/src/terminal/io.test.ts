import { expect, test } from 'vitest';
import { harmless } from './io.js';

test('a text for a terminal cannot steer it', () => {
  expect(harmless('a\tb\n\u001b]0;x\u0007\u009b2J\r\u202egnp')).toBe(
    'a\tb\n\ufffd]0;x\ufffd\ufffd2J\ufffd\ufffdgnp',
  );
  expect(harmless('Zoë, 東京, 👩‍🚀, עברית')).toBe('Zoë, 東京, 👩‍🚀, עברית');
});
