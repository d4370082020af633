import type { Random } from './random.js';

/** Changes a text of JSON by bytes, without regard to what they mean; `others` are texts to take pieces of. */
export function changeBytes(random: Random, bytes: Buffer, others: () => Buffer): Buffer {
  return random.pick(CHANGES)(random, bytes, others);
}

type Change = (random: Random, bytes: Buffer, others: () => Buffer) => Buffer;

const LETTERS = Buffer.from('0123456789abcdefABCDEFxX"{}[],:-+.eE\\/ntrulfas \t\r\n\0\x7f\x80\xff', 'latin1');

const splice = (bytes: Buffer, from: number, to: number, insert: Uint8Array | string): Buffer =>
  Buffer.concat([
    bytes.subarray(0, from),
    typeof insert === 'string' ? Buffer.from(insert, 'utf8') : insert,
    bytes.subarray(Math.max(from, to)),
  ]);

/** Replaces one of the places that match; texts without any stay. */
const replaceOne =
  (pattern: RegExp, by: (random: Random, match: string) => string): Change =>
  (random, bytes) => {
    const text = bytes.toString('latin1');
    const from = random.int(text.length);
    pattern.lastIndex = from;
    const match = pattern.exec(text) ?? pattern.exec(text);
    if (match === null) return bytes;
    const end = match.index + match[0].length;
    return splice(bytes, match.index, end, by(random, match[0]));
  };

/** Replaces a digit of some hex, if a few tries find one. */
function ofDigit(random: Random, bytes: Buffer, by: string): Buffer {
  for (let tries = 0; tries < 20; tries++) {
    const at = random.int(bytes.length);
    const isDigit = /[0-9a-f]/.test(String.fromCharCode(bytes[at]!));
    if (isDigit) return splice(bytes, at, at + 1, random.pick([...by]));
  }
  return bytes;
}

const deep = (open: string, close: string, depth: number): string => open.repeat(depth) + close.repeat(depth);

const NUMBERS = [
  '1',
  '0',
  '-0',
  '1.0',
  '1e0',
  '1E+0',
  '01',
  '1e999',
  '9007199254740993',
  '18446744073709551616',
  '+1',
  '.5',
  'NaN',
];
const WORDS = [
  'null',
  'true',
  'false',
  'nul',
  'undefined',
  '{}',
  '[]',
  '""',
  '"0x"',
  '"0x0"',
  '[null]',
  '{"a":1}',
];
const SPACES = [' ', '\n', '\r\n', '\t', '  ', '\f', '\u00a0', '\ufeff', '/**/'];
const INVALID = ['\x80', '\xff', '\xc3', '\xed\xa0\x80', '\xf0\x9f', '\xc0\xaf', '\xc3\xa9'];

const CHANGES: readonly Change[] = [
  // one byte
  (random, bytes) => {
    const at = random.int(bytes.length);
    return splice(bytes, at, at + 1, Buffer.of(bytes[at]! ^ (1 << random.int(8))));
  },
  (random, bytes) => {
    const at = random.int(bytes.length);
    return splice(bytes, at, at + 1, Buffer.of(random.pick([...LETTERS])));
  },
  (random, bytes) => {
    const at = random.int(bytes.length);
    return splice(bytes, at, at, Buffer.of(random.pick([...LETTERS])));
  },
  (random, bytes) => {
    const at = random.int(bytes.length);
    return splice(bytes, at, at + random.pick([1, 1, 1, 2, 3, 16, 64]), '');
  },
  // a hex digit
  (random, bytes) => ofDigit(random, bytes, '0123456789abcdef'),
  (random, bytes) => ofDigit(random, bytes, '0123456789abcdefABCDEFgx '),
  // spans
  (random, bytes) => {
    const from = random.int(bytes.length);
    const end = from + 1 + random.int(120);
    return splice(bytes, end, end, bytes.subarray(from, end));
  },
  (random, bytes) => {
    const length = 1 + random.int(66);
    const from = random.int(Math.max(1, bytes.length - length));
    const other = random.int(Math.max(1, bytes.length - length));
    const changed = Buffer.from(bytes);
    bytes.copy(changed, from, other, other + length);
    bytes.copy(changed, other, from, from + length);
    return changed;
  },
  (random, bytes) => {
    // of the same length, both after `"0x`: a value for another
    const text = bytes.toString('latin1');
    const starts = [...text.matchAll(/"0x[0-9a-f]{40,64}"/g)].map(
      (match) => [match.index, match[0].length] as const,
    );
    if (starts.length < 2) return bytes;
    const [from, length] = random.pick(starts);
    const [other] = random.pick(starts.filter((one) => one[1] === length));
    return splice(bytes, from, from + length, bytes.subarray(other, other + length));
  },
  (random, bytes) => bytes.subarray(0, random.int(bytes.length)),
  (random, bytes) => bytes.subarray(0, bytes.length - 1 - random.int(Math.min(20, bytes.length))),
  (random, bytes) =>
    splice(bytes, bytes.length, bytes.length, random.pick([' ', '\n', ',', '}', ']', 'x', '\0', '"', '0'])),
  (random, bytes) => splice(bytes, 0, 0, random.pick([' ', '\n', '[', '\ufeff', '\0'])),
  // a piece of another text
  (random, bytes, others) => {
    const other = others();
    const start = random.int(other.length);
    const piece = other.subarray(start, start + 1 + random.int(400));
    const at = random.int(bytes.length);
    return splice(bytes, at, at + (random.oneIn(2) ? piece.length : 0), piece);
  },
  // members
  replaceOne(/"\w+":("[^"]*"|\d+|null|true|false),/g, (random, match) =>
    random.pick([
      match + match,
      '',
      match.replace(/:.*,/, ':null,'),
      match + match.replace(/[0-9a-f](?=",$)/, '0'),
    ]),
  ),
  replaceOne(/"\w+":/g, (random, match) => {
    const name = match.slice(1, -2);
    const escaped = `\\u${name.charCodeAt(0).toString(16).padStart(4, '0')}${name.slice(1)}`;
    return `"${random.pick([escaped, `${name} `, name.toUpperCase(), `${name}\\u0000`, '__proto__', ''])}":`;
  }),
  // values of another type
  replaceOne(/"0x[0-9a-f]*"/g, (random) => random.pick(random.oneIn(2) ? NUMBERS : WORDS)),
  replaceOne(
    /:\d+(?=[,}])/g,
    (random, match) =>
      `:${random.pick([...NUMBERS, `"${match.slice(1)}"`, `${match.slice(1)}.0`, `${match.slice(1)}e0`, `0${match.slice(1)}`])}`,
  ),
  replaceOne(/"0x[0-9a-f]+"/g, (random, match) => {
    const at = 1 + random.int(match.length - 2);
    return `${match.slice(0, at)}\\u00${match.charCodeAt(at).toString(16)}${match.slice(at + 1)}`;
  }),
  replaceOne(/"0x[0-9a-f]+"/g, (random, match) =>
    match.replace('0x', random.pick(['0X', '', 'x', '0', '00x', ' 0x', '\\/'])),
  ),
  replaceOne(
    /"0x[0-9a-f]+"/g,
    (random, match) => `"0x${'0f'.repeat(random.pick([33, 64, 500]))}${match.slice(3, -1)}"`,
  ),
  // white space
  replaceOne(/[{}[\],:]/g, (random, match) =>
    random.pick([match + random.pick(SPACES), random.pick(SPACES) + match]),
  ),
  replaceOne(/[{}[\],:]/g, (random, match) => random.pick(['', match + match, ',', ':', '}', ']', '{', '['])),
  (random, bytes) => {
    const space = random.pick([' ', '\n  ', '\t']);
    return Buffer.from(bytes.toString('latin1').replace(/[{[,:]/g, `$&${space}`), 'latin1');
  },
  // nesting
  replaceOne(/(?<=[{,])(?="\w+":)/g, (random) => {
    const depth = random.oneIn(40) ? 10_000 : random.pick([1, 63, 64, 65, 100]);
    return `"deep":${random.pick([deep('[', ']', depth), deep('{"a":', '}', depth).replace(/:\}/, ':1}'), deep('[', '', depth)])},`;
  }),
  // bytes that are no text
  (random, bytes) => {
    const at = random.int(bytes.length);
    return splice(bytes, at, at, Buffer.from(random.pick(INVALID), 'latin1'));
  },
  replaceOne(
    /(?<=[{,])(?="\w+":)/g,
    (random) => `"x":"${random.pick(['é', '\u2028', '😀', '\\ud800', '\\q', '\n', '\\'])}",`,
  ),
];
