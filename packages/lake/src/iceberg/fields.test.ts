import { expect, it } from 'vitest';
import { assignFields } from './fields.js';

const COLUMNS = [
  { name: 'block_number', type: 'BIGINT', required: true },
  { name: 'extra', type: 'JSON' },
];

it('gives each column an id, which it keeps wherever new ones come', () => {
  const before = assignFields(COLUMNS);
  expect(before).toEqual([
    { id: 1, name: 'block_number', type: 'long', required: true },
    { id: 2, name: 'extra', type: 'string', required: false },
  ]);
  const [first, last] = COLUMNS as [(typeof COLUMNS)[0], (typeof COLUMNS)[0]];
  // Files that are there lack the new column, so it may be null.
  const added = assignFields([first, { name: 'value', type: 'DECIMAL(38,0)', required: true }, last], before);
  expect(added).toEqual([
    before[0],
    { id: 3, name: 'value', type: 'decimal(38, 0)', required: false },
    before[1],
  ]);
});

it('refuses a column that is gone, or of another type', () => {
  const before = assignFields(COLUMNS);
  const code = 'LAKE_SCHEMA_CHANGED';
  expect(() => assignFields(COLUMNS.slice(1), before)).toThrow(expect.objectContaining({ code }));
  const other = [{ name: 'block_number', type: 'INTEGER' }, ...COLUMNS.slice(1)];
  expect(() => assignFields(other, before)).toThrow(expect.objectContaining({ code }));
  expect(() => assignFields([{ name: 'x', type: 'BYTEA' }])).toThrow(expect.objectContaining({ code }));
});
