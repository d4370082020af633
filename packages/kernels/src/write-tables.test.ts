import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { FORMS } from './write-tables.js';

it('has the forms of values in the numbers of the kernel', () => {
  const source = readFileSync(new URL('../kernel/scan/fields.ts', import.meta.url), 'utf8');
  const [, constants = ''] = /Forms of values\. \*\/\n((?:export const .*\n)+)/.exec(source) ?? [];
  const numbers = [...constants.matchAll(/^export const (\w+): u32 = (\d+);$/gm)];
  const names = numbers.map(([, name = '']) =>
    name
      .toLowerCase()
      .replace(/_object$/, '')
      .replace(/_(\d)/, '$1')
      .replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
  );
  expect(numbers.map(([, , number]) => Number(number))).toEqual([...FORMS.keys()]);
  expect(names).toEqual(FORMS);
});
