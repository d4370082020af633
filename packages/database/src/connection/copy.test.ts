import { isPackhouseError } from '@packhouse/runtime';
import fc from 'fast-check';
import { to } from 'pg-copy-streams';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type OpenDatabase, openDatabase, silentContext } from '../testing/open-database.js';
import { createConnections } from './connections.js';
import { createCopyEncoder, decodeCopy } from './copy.js';

let open: OpenDatabase;
beforeAll(async () => {
  open = await openDatabase();
});
afterAll(() => open.close());

/** The same bytes in other chunks. */
async function* cut(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer> {
  let position = 0;
  for (let index = 0; position < bytes.length; index += 1) {
    const size = sizes[index % sizes.length]!;
    yield bytes.subarray(position, position + size);
    position += size;
  }
}

it('reads what was written, however it is cut on the way', async () => {
  const value = fc.oneof(
    fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
    fc.integer({ min: 8_190, max: 8_194 }).map((size) => Buffer.alloc(size, 7)),
    fc.integer({ min: 65_500, max: 65_540 }).map((size) => Buffer.alloc(size, 9)),
  );
  const rows = fc.array(fc.tuple(fc.nat(), value, fc.maxSafeInteger()), { maxLength: 8 });
  const sizes = fc.array(fc.integer({ min: 1, max: 70_000 }), { minLength: 1, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(rows, sizes, async (written, pieces) => {
      const encoder = createCopyEncoder();
      for (const [small, bytes, large] of written) {
        encoder.row(3);
        encoder.int4(small);
        encoder.bytes(bytes);
        encoder.int8(large);
      }
      const read: [number, Buffer, number][] = [];
      for await (const [small, bytes, large] of decodeCopy(cut(Buffer.concat(encoder.finish()), pieces))) {
        read.push([small!.readInt32BE(), bytes!, Number(large!.readBigInt64BE())]);
      }
      expect(read).toHaveLength(written.length);
      // Buffer's comparison: the deep one reads every byte as a property.
      expect(
        read.every(([small, bytes, large], row) => {
          const [expectedSmall, expectedBytes, expectedLarge] = written[row]!;
          return small === expectedSmall && bytes.equals(expectedBytes) && large === expectedLarge;
        }),
      ).toBe(true);
    }),
    { numRuns: 60 },
  );
});

it('passes large values on without copying them', () => {
  const body = Buffer.alloc(100_000, 1);
  const encoder = createCopyEncoder();
  encoder.row(1);
  encoder.bytes(body);
  expect(encoder.finish()).toContain(body);
});

it('refuses bytes that end inside a row', async () => {
  const encoder = createCopyEncoder();
  encoder.row(1);
  encoder.bytes(Buffer.alloc(10));
  const whole = Buffer.concat(encoder.finish());
  const read = async () => {
    for await (const _ of decodeCopy(cut(whole.subarray(0, whole.length - 5), [100])));
  };
  await expect(read()).rejects.toThrow('inside a row');
});

it('fails and does not hang when the server goes away in the middle of the rows', async () => {
  const connections = createConnections({
    connectionString: open.url,
    context: silentContext(),
    applicationName: 'reader',
  });
  let rows = 0;
  const reading = connections.session(async ({ client }) => {
    const text = `COPY (SELECT repeat('x', 100000)::bytea FROM generate_series(1, 5000)) TO STDOUT (FORMAT binary)`;
    for await (const [value] of decodeCopy(client.query(to(text)))) {
      expect(value).toHaveLength(100_000);
      rows += 1;
      if (rows === 3) {
        await open.sql(
          "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = 'reader' AND datname = current_database()",
        );
      }
    }
  });
  const error = await reading.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(isPackhouseError(error, 'DATABASE_UNAVAILABLE')).toBe(true);
  expect(rows).toBeLessThan(5_000);
  // Its connection is discarded; the next one works.
  await connections.session(async ({ client }) => {
    expect((await client.query<{ one: number }>('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  });
  await connections.close();
});
