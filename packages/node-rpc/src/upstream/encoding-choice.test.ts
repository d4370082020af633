import { describe, expect, it } from 'vitest';
import { createEncodingChoice } from './http.js';

describe('createEncodingChoice', () => {
  it.each([['localhost'], ['node.localhost'], ['127.0.0.1'], ['[::1]']])(
    'never asks %s for gzip',
    (hostname) => {
      const choice = createEncodingChoice(hostname);
      for (let index = 0; index < 20; index += 1) {
        expect(choice.next()).toBe('identity');
        choice.note('identity', 1_000_000, 1_000);
      }
    },
  );

  it.each([
    ['a thin line', 1_000, 200, 'gzip'],
    ['a thick line', 10, 40, 'identity'],
  ])('takes what was quicker over %s', (_, plainMs, gzipMs, expected) => {
    const choice = createEncodingChoice('node.example');
    for (let index = 0; index < 8; index += 1) {
      const asked = choice.next();
      choice.note(asked, 1_000_000, asked === 'gzip' ? gzipMs : plainMs);
    }
    expect(choice.next()).toBe(expected);
  });

  it('learns nothing from short answers', () => {
    const choice = createEncodingChoice('node.example');
    for (let index = 0; index < 20; index += 1) choice.note('identity', 1_000, 1);
    expect(choice.next()).toBe('identity');
  });
});
