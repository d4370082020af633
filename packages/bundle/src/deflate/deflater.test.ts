import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { constants, crc32, inflateRawSync } from 'node:zlib';
import { createLogger, createMetrics } from '@packhouse/runtime';
import { afterAll, afterEach, beforeAll, describe, expect, it, test, vi } from 'vitest';
import { scanItems } from '../filter/scan-items.js';
import { type Fragment, type Piece, toFragment } from '../layout/fragment.js';
import { readBundle } from '../read-bundle.js';
import { spliceMember } from '../splice-member.js';
import { hexJson, randomBytes } from '../testing/texts.js';
import { createPieceWriter, deflatePiece, joinPieces } from './deflate-piece.js';
import { createDeflater } from './deflater.js';

const lines: { level: number; msg: string }[] = [];
const logger = createLogger({
  name: 'test',
  level: 'warn',
  destination: { write: (line) => lines.push(JSON.parse(line)) },
});
const metrics = createMetrics();
const open: { close(): Promise<void> }[] = [];
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'deflater-'));
});
afterAll(() => rm(folder, { recursive: true }));
afterEach(async () => {
  vi.unstubAllGlobals();
  lines.length = 0;
  await Promise.all(open.splice(0).map((deflater) => deflater.close()));
});

function deflater(options: Partial<Parameters<typeof createDeflater>[0]> = {}) {
  const created = createDeflater({ context: { logger, metrics }, threads: 2, ...options });
  open.push(created);
  return created;
}

async function failures(): Promise<number> {
  const line = /^packhouse_deflate_failures_total (\d+)$/m.exec(await metrics.render());
  return Number(line?.[1]);
}

function check(piece: Piece, text: Buffer): void {
  const back = inflateRawSync(piece.body, { finishFlush: constants.Z_SYNC_FLUSH });
  expect(back.equals(text)).toBe(true);
  expect({
    rawLength: piece.rawLength,
    crc32: piece.crc32,
    end: piece.body.toString('hex').slice(-8),
  }).toEqual({
    rawLength: text.length,
    crc32: crc32(text),
    end: '0000ffff',
  });
}

/** A thread that runs this at its start, and ends with 3 at a text that ends in an exclamation mark. */
async function program(name: string, atStart = ''): Promise<URL> {
  const file = path.join(folder, `${name}.mjs`);
  await writeFile(
    file,
    `import { parentPort } from 'node:worker_threads';
     import { crc32, deflateRawSync } from 'node:zlib';
     ${atStart}
     parentPort.on('message', ({ text }) => {
       if (text.at(-1) === 0x21) process.exit(3);
       const body = Uint8Array.from(deflateRawSync(text, { finishFlush: 2 }));
       parentPort.postMessage({ piece: { body, crc32: crc32(text) } });
     });`,
  );
  return pathToFileURL(file);
}

describe('a deflater', () => {
  it('makes pieces of texts of any size, here and in threads, many at a time', async () => {
    const { deflate } = deflater();
    const sizes = [0, 1, 32_767, 32_768, 200_000, 1_048_576, 1_600_000, 3_000_001];
    const texts = sizes.flatMap((size) => [hexJson(size, size), randomBytes(size, size)]);
    const pieces = await Promise.all(texts.map((text) => deflate(text)));
    for (const [at, piece] of pieces.entries()) check(piece, texts[at] as Buffer);
    expect(await failures()).toBe(0);
  });

  it('deflates 64 MiB in parts', async () => {
    const text = Buffer.alloc(67_108_864, hexJson(1, 999_983));
    check(await deflater().deflate(text), text);
  });

  it('makes pieces that go on behind those of zlib, and those that go before them', async () => {
    const { deflate } = deflater();
    const texts = [hexJson(2, 50_000), hexJson(3, 40_000), hexJson(4, 300), hexJson(5, 1_400_000)];
    const pieces = await Promise.all(
      texts.map((text, at) => (at % 2 === 0 ? deflate(text) : deflatePiece(text))),
    );
    check(joinPieces(pieces), Buffer.concat(texts));
  });

  it('writes texts that come in parts', async () => {
    const { deflate } = deflater();
    const writer = createPieceWriter(deflate);
    const text = hexJson(6, 5_000_000);
    for (let at = 0; at < text.length; at += 77_777) await writer.write(text.subarray(at, at + 77_777));
    check(await writer.finish(), text);
  });

  it('makes bundles that are read as those of zlib are, also with fragments of both', async () => {
    const { deflate } = deflater();
    const records = Array.from({ length: 6 }, (_, i) =>
      Buffer.from(
        `[${hexJson(i, 40_000)
          .toString()
          .replace(/,\{[^}]*$/, '')}]`,
      ),
    );
    const bundle = async (by: (at: number) => typeof deflate): Promise<string[]> => {
      const fragments: Fragment[] = [];
      for (const [at, record] of records.entries())
        fragments.push(toFragment({ firstBlock: at, lastBlock: at }, await by(at)(record)));
      const { chunks } = spliceMember(
        fragments,
        fragments.map(({ body }) => body),
      );
      return (await readBundle(Buffer.concat(chunks))).records.map(String);
    };
    const expected = records.map(String);
    expect(await bundle(() => deflate)).toEqual(expected);
    const byZlib: typeof deflate = (text) => deflatePiece(text);
    expect(await bundle(() => byZlib)).toEqual(expected);
    expect(await bundle((at) => (at % 2 === 0 ? deflate : byZlib))).toEqual(expected);
  });

  it('finds items here, in threads and of texts in parts, but for those of very long and of other texts', async () => {
    const { deflate } = deflater();
    const log = (n: number) => ({
      address: `0x${'ab'.repeat(20)}`,
      topics: [`0x${n.toString(16).padStart(64, '0')}`],
    });
    for (const count of [0, 1, 5_000, 12_000]) {
      const text = Buffer.from(JSON.stringify(Array.from({ length: count }, (_, n) => log(n))));
      const piece = await deflate(text, 'logs');
      check(piece, text);
      const scanned = Buffer.from(scanItems('logs', text) as Uint8Array);
      expect(scanned.length).toBe(count === 0 ? 0 : 10 * (1 + 2 * count));
      expect(piece.items?.equals(scanned)).toBe(true);
      expect((await deflate(text)).items).toBe(undefined);
    }
    expect((await deflate(Buffer.from('[{"address":5}]'), 'logs')).items).toBe(undefined);
    expect((await deflate(hexJson(1, 4_194_305), 'logs')).items).toBe(undefined);
  });
});

describe('where a thread', () => {
  const texts = Array.from({ length: 6 }, (_, i) => hexJson(i, 100_000));

  it('ends in the middle, zlib does its texts, which are counted, and another thread does the others', async () => {
    const before = await failures();
    const { deflate } = deflater({ threads: 1, program: await program('exits') });
    const bad = Buffer.concat([texts[0]?.subarray(0, 99_999) as Buffer, Buffer.from('!')]);
    check(await deflate(texts[1] as Buffer), texts[1] as Buffer);
    const pieces = await Promise.all([deflate(bad), deflate(texts[2] as Buffer)]);
    check(pieces[0], bad);
    check(pieces[1], texts[2] as Buffer);
    const failed = (await failures()) - before;
    expect(failed).toBe(2);
    expect(lines.map(({ msg }) => msg)).toContain('the kernel failed; zlib deflates its text');
    check(await deflate(texts[3] as Buffer), texts[3] as Buffer);
    expect((await failures()) - before).toBe(failed);
  });

  it('never answers, no further ones are started', async () => {
    const { deflate } = deflater({ threads: 1, program: new URL('no-such-program.js', import.meta.url) });
    for (const text of texts) check(await deflate(text), text);
    const said = lines.map((line) => JSON.stringify(line));
    expect(said.filter((line) => line.includes('A thread ended'))).toHaveLength(3);
    expect(said.filter((line) => line.includes('There are no threads'))).toHaveLength(3);
  });

  it('has nothing to do, it is ended, and started again when there is', async () => {
    const before = await failures();
    const marks = new BroadcastChannel('deflater-test');
    let started = 0;
    marks.onmessage = () => {
      started += 1;
    };
    const mark = `new BroadcastChannel('deflater-test').postMessage(1);`;
    const { deflate } = deflater({ threads: 1, idleMs: 1, program: await program('idle', mark) });
    await vi.waitUntil(
      async () => {
        check(await deflate(texts[0] as Buffer), texts[0] as Buffer);
        return started > 1;
      },
      { timeout: 30_000, interval: 10 },
    );
    marks.close();
    expect(await failures()).toBe(before);
  });

  it('is ended by close, zlib does the rest', async () => {
    const before = await failures();
    const created = deflater({ threads: 1 });
    const pieces = texts.map((text) => created.deflate(text));
    await created.close();
    for (const [at, piece] of pieces.entries()) check(await piece, texts[at] as Buffer);
    check(await created.deflate(texts[0] as Buffer), texts[0] as Buffer);
    expect(await failures()).toBe(before);
  });
});

test('where Node has no WebAssembly, zlib deflates, and the log says so once', async () => {
  vi.stubGlobal('WebAssembly', undefined);
  const { deflate } = deflater();
  const text = hexJson(1, 100_000);
  const piece = await deflate(text);
  check(piece, text);
  expect(piece.body.equals((await deflatePiece(text)).body)).toBe(true);
  expect(lines.map(({ msg }) => msg)).toEqual([
    'this Node has no WebAssembly with SIMD: zlib deflates instead of the kernel',
  ]);
});
