import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createCursors, type FeedState } from './cursor.js';

const seal = Buffer.alloc(32, 7);
const { encode, decode } = createCursors({ seal, network: 'main' });
const hash = `0x${'ab'.repeat(32)}`;

const STATES: FeedState[] = [
  {
    kinds: ['blocks', 'logs'],
    start: 0,
    next: new Map([
      ['blocks', 2 ** 48 - 1],
      ['logs', 0],
    ]),
    seen: new Map([
      ['blocks', -1],
      ['logs', 10_000_000],
    ]),
    base: { block: -1, hash: null },
    tip: null,
    madeAt: 1_800_000_000,
  },
  {
    kinds: ['traces'],
    start: 17_000_000,
    next: new Map([['traces', 23_000_001]]),
    seen: new Map([['traces', 5]]),
    base: { block: 22_999_936, hash },
    tip: { block: 23_000_000, hash: hash.replaceAll('a', 'c') },
    madeAt: 0,
  },
];

it.each(STATES)('says what was put into it', (state) => {
  expect(decode(encode(state))).toEqual(state);
  // A request with it, and all other parameters, fits into an address.
  expect(encode(state).length).toBeLessThan(400);
});

describe('a cursor is refused', () => {
  const text = encode(STATES[1] as FeedState);

  it('with any character changed, dropped or added', () => {
    for (let at = 0; at < text.length; at += 1) {
      const other = text[at] === 'A' ? 'B' : 'A';
      for (const changed of [
        text.slice(0, at) + other + text.slice(at + 1),
        text.slice(0, at) + text.slice(at + 1),
        text.slice(0, at) + other + text.slice(at),
      ])
        expect(() => decode(changed)).toThrow(/^The cursor cannot be used for the feed of main: /);
    }
  });

  it('of another installation, and of another network, by name', () => {
    const elsewhere = createCursors({ seal: Buffer.alloc(32, 8), network: 'main' });
    expect(() => elsewhere.decode(text)).toThrow('it is of another installation');
    const other = createCursors({ seal, network: 'other' });
    expect(() => other.decode(text)).toThrow('it is of the network main');
  });

  it.each([
    '',
    'x',
    '!',
    'AQ==',
    ' ',
    'A'.repeat(100),
    'A'.repeat(10_000),
    randomBytes(150).toString('base64url'),
  ])('if it is none: %.20s', (none) => {
    expect(() => decode(none)).toThrow(/^The cursor cannot be used/);
  });
});
