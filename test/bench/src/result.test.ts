import { expect, it } from 'vitest';
import { renderTable } from './result.js';

const yardstick = { name: 'floor', value: 40, unit: 'blocks/s' };

it('shows each figure beside its yardstick, and says plainly what was missed', () => {
  const table = renderTable([
    { name: 'a', value: 30, unit: 'blocks/s', yardstick, target: 'at least 60 %', met: true },
    { name: 'b', value: 400, unit: 'blocks/s', yardstick, target: '20x', met: false },
    { name: 'c', value: 1234.5, unit: 'MB' },
  ]);
  const [head, a, b, c] = table.split('\n').map((line) => line.split(/ {2,}/));
  expect(head).toEqual(['BENCHMARK', 'FIGURE', 'YARDSTICK', 'RATIO', 'TARGET']);
  expect(a).toEqual(['a', '30.0 blocks/s', 'floor: 40.0 blocks/s', '75 %', 'at least 60 %', 'met']);
  expect(b).toEqual(['b', '400 blocks/s', 'floor: 40.0 blocks/s', '10.0x', '20x', 'NOT MET']);
  expect(c).toEqual(['c', '1,235 MB']);
});

it('shows why something was not run, and that something broke', () => {
  const table = renderTable([
    { name: 'a', skipped: 'nginx is not installed' },
    { name: 'b', failed: 'the gateway ended with 1' },
  ]);
  expect(table).toMatch(/a +not run +nginx is not installed/);
  expect(table).toMatch(/b +FAILED/);
});
