import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { redact } from './redact.js';

const SECRET = 'Zx9k'.repeat(11).slice(0, 43);

describe('redact', () => {
  it.each([
    [`key ph_AbCd1234_${SECRET} used`, 'key ph_AbCd1234_*** used'],
    [`/demo/v1/ph_AbCd1234_${SECRET}/bundle-api`, '/demo/v1/ph_AbCd1234_***/bundle-api'],
    [`/v1/ph%5FAbCd1234%5f${SECRET}`, '/v1/ph%5FAbCd1234_***'],
    [
      `/v1/${[...`ph_AbCd1234_${SECRET}`].map((c) => `%${c.charCodeAt(0).toString(16)}`).join('')}`,
      `/v1/${[...'ph_AbCd1234'].map((c) => `%${c.charCodeAt(0).toString(16)}`).join('')}_***`,
    ],
    [`?key=ph%255FAbCd1234%255F${SECRET} next`, '?key=ph%255FAbCd1234_*** next'],
    ['http://user:pass@node.example:8545/', 'http://***@node.example:8545/'],
    ['http://user:p@ss@node.example', 'http://***@node.example'],
    ['https://rpc.example/v2/0123456789abcdef', 'https://rpc.example/***'],
    ['https://rpc.example/?apikey=abc#frag', 'https://rpc.example/?***#***'],
    ['https://rpc.example?apikey=abc', 'https://rpc.example?***'],
    ['wss://rpc.example/ws/KEY.', 'wss://rpc.example/***.'],
    ['postgres://u:p@db.example:5432/packhouse?sslmode=x', 'postgres://***@db.example:5432/packhouse?***'],
    ['redis://:hunter2@[::1]:6379/0', 'redis://***@[::1]:6379/0'],
    ['postgres://u:pa/ss@db/name', 'postgres://***/***'],
    ['s3://bucket/some/prefix', 's3://bucket/some/prefix'],
    ['(see http://node.example:8545), then', '(see http://node.example:8545), then'],
    [
      'tried "https://a.example/k1" and \'https://b.example/k2\'',
      'tried "https://a.example/***" and \'https://b.example/***\'',
    ],
    ['Authorization: Bearer abcdef.ghi', 'Authorization: Bearer ***'],
    ['{"authorization":"Basic dXNlcjpwYXNz"}', '{"authorization":"Basic ***"}'],
    ['{\\"password\\":\\"hunter2\\"}', '{\\"password\\":\\"***\\"}'],
    ['x-api-key=abcdefg&next=1', 'x-api-key=***&next=1'],
  ])('%s', (text, expected) => {
    expect(redact(text)).toBe(expected);
  });

  it.each([
    'Block 17686110 failed its receiptsRoot proof: expected 0xabc, got 0xdef (upstream-1).',
    'password authentication failed for user "x"',
    'Basic authentication is not supported, the bearer is unknown',
    'file.ts:12:3 at Object.<anonymous> a.b.c://',
    'ph_AbCd1234 is the public part; mainnet/blocks/0-99.json.gz is a key',
    '{"password":true,"secret":12345,"a":"b"}',
    'at file:///usr/lib/app/main.js:10:5',
    'http://localhost:8545',
  ])('leaves ordinary text as it is: %s', (text) => {
    expect(redact(text)).toBe(text);
  });

  it('is never fooled by where a key or an address stands', () => {
    const filler = fc.string({ maxLength: 20 });
    fc.assert(
      fc.property(filler, filler, (before, after) => {
        expect(redact(`${before}ph_AbCd1234_${SECRET}${after}`)).not.toContain(SECRET.slice(0, 12));
        expect(redact(`${before} https://u:${SECRET}@h.example/${SECRET}?${SECRET} ${after}`)).not.toContain(
          SECRET,
        );
      }),
    );
  });

  it('keeps JSON what it is, whatever stands in it', () => {
    const piece = fc.oneof(
      fc.string(),
      fc.constantFrom(
        'http://a.example/k"',
        "'https://u:p@b/c\\",
        'password: "x\\y"',
        'secret="',
        '\n',
        '\\',
      ),
    );
    const text = fc.array(piece).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.constantFrom('a', 'password', 'apiKey', 'url'),
          fc.oneof(text, fc.integer(), fc.boolean()),
        ),
        (value) => {
          const nested = { ...value, inner: JSON.stringify(value) };
          const seen = JSON.parse(redact(JSON.stringify(nested))) as object;
          expect(Object.keys(seen)).toEqual(Object.keys(JSON.parse(JSON.stringify(nested)) as object));
        },
      ),
      { numRuns: 500 },
    );
  });

  it('leaves the examples of hints as they can be pasted, and no other address like them', () => {
    const hint =
      'For example postgres://me@localhost/chain?table=logs, or https://data.example.com/ethereum.';
    expect(redact(hint)).toBe(hint);
    expect(redact('https://data.example.com/ethereum?key=a1b2c3')).toBe('https://data.example.com/***?***');
    expect(redact('postgres://me:pw@localhost/chain?table=logs')).toBe('postgres://***@localhost/chain?***');
  });

  it('is idempotent', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const once = redact(`https://u:p@${text} password=${text}`);
        expect(redact(once)).toBe(once);
      }),
    );
  });

  it.each(['a', 'a.', 'ph_', 'http://', 'x://a@', 'a:', 'password ', 'x://x:', '@', '://', 'secret:'])(
    'takes a megabyte of "%s" without getting lost',
    (unit) => {
      const text = unit.repeat(Math.ceil(1_000_000 / unit.length));
      expect(redact(text).length).toBeGreaterThan(0);
    },
    5_000,
  );
});
