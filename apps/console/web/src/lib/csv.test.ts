import { expect, it } from 'vitest';
import { toCsv } from './csv.js';

it('cells with commas, quotes and lines are quoted, and formulas are text', () => {
  expect(
    toCsv([
      ['kind', 'needs'],
      ['a,b', 'say "x"'],
      ['two\nlines', null],
      ['=1+1', '@x'],
      [-1, true],
    ]),
  ).toBe('kind,needs\r\n"a,b","say ""x"""\r\n"two\nlines",\r\n\'=1+1,\'@x\r\n-1,true\r\n');
});
