import { hostname } from 'node:os';
import { expect, test } from 'vitest';
import { operatorName } from './operator.js';

test('an operator is who the environment says, else the user of the system', () => {
  expect(operatorName({ env: { PACKHOUSE_OPERATOR: 'Ada Lovelace' } })).toBe('Ada Lovelace');
  for (const env of [{}, { PACKHOUSE_OPERATOR: '' }]) {
    expect(operatorName({ env })).toMatch(/^.+@.+$/);
    expect(operatorName({ env }).endsWith(`@${hostname()}`)).toBe(true);
  }
});

test.each(['a\nb', ' ', '\u001b[31mred', 'x'.repeat(5_000), '\u202egnp', '\u0430da'])(
  '%j is no name of an operator',
  (name) => {
    expect(() => operatorName({ env: { PACKHOUSE_OPERATOR: name } })).toThrow(
      /^PACKHOUSE_OPERATOR takes [^\p{C}]{1,300}$/u,
    );
  },
);
