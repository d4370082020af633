import { describe, expect, it } from 'vitest';
import { findUnclear } from './clear-name.js';

it.each([
  'ada@example.com',
  'Zürich Börse & Söhne (2)',
  "O'Neill, Inc.",
  'Команда данных',
  'Εφαρμογή',
  '東京データ API',
  '데이터 팀',
  'डेटा टीम',
  'ทีมข้อมูล',
  'صندوق',
  'rocket 🚀',
  'a_b-c/d:e+f#1',
])('%s is a clear name', (name) => {
  expect(findUnclear(name)).toBeNull();
});

describe('a name is not clear', () => {
  // Named by their code points, as nobody sees them here either.
  it.each([
    '\u200b',
    '\u200d',
    '\u200e',
    '\u202e',
    '\u2066',
    '\u2069',
    '\u061c',
    '\ufeff',
    '\u00ad',
    '\u3164',
    '\u2800',
    '\u00a0',
    '\u2028',
    '\u3000',
    '\ufe0f',
    '\u{e0041}',
    '\u0000',
    '\n',
    '\u009b',
    '\ud800',
    '\ue000',
  ])('with the invisible %j, wherever it is', (sign) => {
    for (const name of [`${sign}admin`, `ad${sign}min`, `admin${sign}`])
      expect(findUnclear(name)).toMatch(/^invisible character \(U\+[0-9A-F]{4,5}\)$/);
  });

  it.each([
    ['\u0430dmin', 'letters of several scripts'],
    ['\u0391cme', 'letters of several scripts'],
    ['Acme \u0421orp', 'letters of several scripts'],
    ['p\u04cf', 'letters of several scripts'],
    ['\uff41dmin', 'other form of a letter or digit (U+FF41)'],
    ['\u{1d41a}dmin', 'other form of a letter or digit (U+1D41A)'],
    ['\ufb01nance', 'other form of a letter or digit (U+FB01)'],
    ['e\u0301va', 'letter in parts that Unicode has as one (normalize it as NFC)'],
    ['\u0301a', 'mark without a letter'],
    ['a\u0316\u0317\u0318\u0319', 'mark without a letter'],
    [' admin', 'space at an end or beside another space'],
    ['admin ', 'space at an end or beside another space'],
    ['ad  min', 'space at an end or beside another space'],
    ['\u{10330}', 'letters of several scripts'],
  ])('as %j is not', (name, what) => {
    expect(findUnclear(name)).toBe(what);
  });
});
