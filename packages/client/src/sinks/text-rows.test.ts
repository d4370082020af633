import type { RowBatch, Schema } from '@packhouse/rows';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { CSV, JSONL } from './text-rows.js';

const schema: Schema = {
  name: 'logs-1',
  kind: 'logs',
  columns: [
    { name: 'n', type: 'BIGINT' },
    { name: 'd', type: 'DECIMAL(38,0)' },
    { name: 't', type: 'TEXT' },
    { name: 'at', type: 'TIMESTAMP' },
    { name: 'b', type: 'BOOLEAN' },
    { name: 'extra', type: 'JSON' },
  ],
};
const batch = (t: (string | null)[]): RowBatch => ({
  rows: t.length,
  columns: {
    n: t.map((_, i) => (i === 0 ? 2n ** 63n - 1n : i)),
    d: t.map(() => 10n ** 38n - 1n),
    t,
    at: t.map(() => 1_689_269_827),
    b: t.map(() => false),
    extra: t.map(() => '{"a":["x\\"",1]}'),
  },
});

it('JSONL keeps numbers exact, times in UTC and JSON as JSON', () => {
  expect(JSONL.rows(schema, batch([null, 'a"b\u0007é']))).toBe(
    [
      '{"n":9223372036854775807,"d":"99999999999999999999999999999999999999","t":null,"at":"2023-07-13T17:37:07Z","b":false,"extra":{"a":["x\\"",1]}}\n',
      '{"n":1,"d":"99999999999999999999999999999999999999","t":"a\\"b\\u0007é","at":"2023-07-13T17:37:07Z","b":false,"extra":{"a":["x\\"",1]}}\n',
    ].join(''),
  );
});

it('CSV quotes what RFC 4180 says, and tells null from an empty text', () => {
  const digits = '9'.repeat(38);
  const rest = '2023-07-13 17:37:07,false,"{""a"":[""x\\"""",1]}"\n';
  expect(CSV.head(schema)).toBe('n,d,t,at,b,extra\n');
  expect(CSV.rows(schema, batch([null, '', 'a,"b"\r\n']))).toBe(
    `9223372036854775807,${digits},,${rest}1,${digits},"",${rest}2,${digits},"a,""b""\r\n",${rest}`,
  );
});

it('writes doubles as what no reader takes for an integer, and loses nothing of them', () => {
  const one: Schema = { ...schema, columns: [{ name: 'd', type: 'DOUBLE' }] };
  const text = (format: typeof JSONL, d: number[]): string =>
    format.rows(one, { rows: d.length, columns: { d } });
  expect(text(JSONL, [0, 2 ** 53 - 1, 2 ** 64, 1e21])).toBe(
    '{"d":0.0}\n{"d":9007199254740991.0}\n{"d":1.8446744073709552e+19}\n{"d":1e+21}\n',
  );
  expect(text(CSV, [7, 2e20])).toBe('7.0\n2e+20\n');
  const amounts = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }).map(Number);
  fc.assert(
    fc.property(fc.oneof(amounts, fc.double({ noNaN: true, noDefaultInfinity: true })), (d) => {
      expect(text(JSONL, [d])).toMatch(/[.e]/);
      expect((JSON.parse(text(JSONL, [d])) as { d: number }).d === d).toBe(true);
      expect(Number(text(CSV, [d])) === d).toBe(true);
    }),
  );
});

it('any text is read back by the rules of RFC 4180 and of JSON', () => {
  const one: Schema = { ...schema, columns: [{ name: 't', type: 'TEXT' }] };
  const texts = fc.array(
    fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('', '"', ',', '\n', '\r\n')),
  );
  fc.assert(
    fc.property(texts, (t) => {
      const rows = { rows: t.length, columns: { t } };
      expect(readCsv(CSV.rows(one, rows))).toEqual(t);
      const lines = JSONL.rows(one, rows).split('\n').slice(0, -1);
      expect(lines.map((line) => (JSON.parse(line) as { t: string }).t)).toEqual(t);
    }),
    { numRuns: 40 },
  );
});

/** Reads one column; RFC 4180, section 2. */
function readCsv(text: string): string[] {
  const cells: string[] = [];
  const form = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))\n/gy;
  for (let found = form.exec(text); found !== null; found = form.exec(text)) {
    cells.push(found[1]?.replaceAll('""', '"') ?? found[2] ?? '');
  }
  return cells;
}
