import { gzipSync } from 'node:zlib';
import { isPackhouseError, PackhouseError } from '@packhouse/runtime';
import { describe, expect, it } from 'vitest';
import { deflatePiece } from './deflate/deflate-piece.js';
import { type Fragment, toFragment } from './layout/fragment.js';
import { readBundle, streamElements, streamRecords } from './read-bundle.js';
import { readFragment, readRecord } from './read-fragments.js';
import { memberOfRecord, spliceMember } from './splice-member.js';

const texts = Array.from({ length: 300 }, (_, i) =>
  JSON.stringify([{ data: `0x${'c0ffee'.repeat(i)}`, q: '"\\' }]),
);

async function bundle(): Promise<{ gz: Buffer; fragments: Fragment[] }> {
  const fragments: Fragment[] = [];
  for (let i = 0; i < texts.length; i += 50) {
    const text = Buffer.from(texts.slice(i, i + 50).join(','));
    fragments.push(toFragment({ firstBlock: i, lastBlock: i + 49 }, await deflatePiece(text)));
  }
  const bodies = fragments.map(({ body }) => body);
  return { gz: Buffer.concat(spliceMember(fragments, bodies).chunks), fragments };
}

async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function collect(source: AsyncIterable<Buffer>): Promise<string[]> {
  const out: string[] = [];
  for await (const record of source) out.push(record.toString());
  return out;
}

const saying = (sentence: RegExp) =>
  expect.toSatisfy((error) => isPackhouseError(error, 'BUNDLE_INVALID') && sentence.test(error.message));

describe('readBundle', () => {
  it('gives every record', async () => {
    const { records, text } = await readBundle((await bundle()).gz);
    expect(records.map(String)).toEqual(texts);
    expect(JSON.parse(text.toString())).toEqual(texts.map((item) => JSON.parse(item)));
  });

  it('reads what any other gzip made of a JSON array', async () => {
    expect((await readBundle(gzipSync('[]'))).records).toEqual([]);
    expect((await readBundle(gzipSync('[{"a":1}, []]'))).records.map(String)).toEqual(['{"a":1}', '[]']);
  });

  it('names what is wrong with a file', async () => {
    const { gz } = await bundle();
    const flipped = Buffer.from(gz);
    flipped[gz.length >> 1] = (flipped[gz.length >> 1] as number) ^ 0x10;
    const wrongCrc = Buffer.from(gz);
    wrongCrc[gz.length - 8] = (wrongCrc[gz.length - 8] as number) ^ 1;
    const shorter = Buffer.from(gz);
    shorter.writeUInt32LE(100, gz.length - 4);
    await expect(readBundle(gz.subarray(0, 12))).rejects.toThrow(saying(/12 bytes is cut off/));
    await expect(readBundle(gz.subarray(0, -9))).rejects.toThrow(saying(/bundle/));
    await expect(readBundle(flipped)).rejects.toThrow(saying(/cannot be inflated|text/));
    await expect(readBundle(wrongCrc)).rejects.toThrow(saying(/cannot be inflated/));
    await expect(readBundle(shorter)).rejects.toThrow(saying(/more text than the 100 bytes it announces/));
    await expect(readBundle(Buffer.from('<html>504 Gateway Time-out</html>'))).rejects.toThrow(
      saying(/bundle/),
    );
    await expect(readBundle(gzipSync('{"a":1}'))).rejects.toThrow(saying(/not a JSON array/));
    await expect(readBundle(gzipSync('[{"a":1}'))).rejects.toThrow(saying(/ends in the middle/));
  });

  it('does not inflate more than is allowed', async () => {
    const bomb = gzipSync(`["${'a'.repeat(5_000_000)}"]`);
    await expect(readBundle(bomb, { maxRawBytes: 1_000_000 })).rejects.toThrow(
      saying(/more than the 1000000 allowed/),
    );
    bomb.writeUInt32LE(0xffff_fff0, bomb.length - 4);
    await expect(readBundle(bomb, { maxRawBytes: 2 ** 32 })).rejects.toThrow(saying(/cannot hold/));
  });
});

describe('readRecord', () => {
  it('gives one block out of one fragment', async () => {
    const { fragments } = await bundle();
    const fragment = fragments[3] as Fragment;
    expect((await readRecord({ fragment, body: fragment.body, block: 177 })).toString()).toBe(texts[177]);
    await expect(readRecord({ fragment, body: fragment.body, block: 200 })).rejects.toThrow(
      /not in fragment 150-199/,
    );
  });

  it('refuses a body that is not the fragment it should be', async () => {
    const { fragments } = await bundle();
    const fragment = fragments[3] as Fragment;
    const other = fragments[4] as Fragment;
    const read = (changed: Partial<Fragment>) => {
      const asked = { ...fragment, ...changed };
      return readFragment({ fragment: asked, body: asked.body });
    };
    await expect(read({ body: other.body })).rejects.toThrow(saying(/body of fragment 150-199 has/));
    await expect(read({ body: other.body, byteLength: other.byteLength })).rejects.toThrow(
      saying(/text of fragment/),
    );
    await expect(read({ crc32: 1 })).rejects.toThrow(saying(/CRC-32/));
    await expect(read({ rawLength: 100 })).rejects.toThrow(saying(/longer than the 100 bytes/));
    await expect(read({ rawLength: 2 ** 40 })).rejects.toThrow(saying(/cannot hold/));
    await expect(read({ lastBlock: 198 })).rejects.toThrow(saying(/holds 50 records, expected 49/));
    const cut = fragment.body.subarray(0, -1);
    await expect(read({ body: cut, byteLength: cut.length })).rejects.toThrow(saying(/sync flush/));
    const broken = Buffer.from(fragment.body);
    broken.fill(0xff, 0, 40);
    await expect(read({ body: broken })).rejects.toThrow(saying(/fragment 150-199/));
  });
});

describe('streamRecords', () => {
  it.each([1, 7, 1_000, 1_000_000])(
    'gives every record of a file that comes in pieces of %i bytes',
    async (size) => {
      expect(await collect(streamRecords(inPieces((await bundle()).gz, size)))).toEqual(texts);
    },
  );

  it('gives records before the file has ended, and closes the source when the reader stops', async () => {
    const { gz } = await bundle();
    let closed = false;
    async function* endless(): AsyncGenerator<Buffer> {
      try {
        yield* inPieces(gz.subarray(0, gz.length >> 1), 500);
        await new Promise<never>(() => {});
      } finally {
        closed = true;
      }
    }
    async function* finite(): AsyncGenerator<Buffer> {
      try {
        for (;;) yield* inPieces(gz.subarray(0, -100), 500);
      } finally {
        closed = true;
      }
    }
    for await (const record of streamRecords(endless())) {
      expect(record.toString()).toBe(texts[0]);
      break;
    }
    expect(closed).toBe(false);
    for await (const record of streamRecords(finite())) {
      expect(record.toString()).toBe(texts[0]);
      break;
    }
    await expect.poll(() => closed).toBe(true);
  });

  it('says that a file was cut off or damaged', async () => {
    const { gz } = await bundle();
    const flipped = Buffer.from(gz);
    flipped[gz.length - 8] = (flipped[gz.length - 8] as number) ^ 1;
    await expect(collect(streamRecords(inPieces(gz.subarray(0, -20), 100)))).rejects.toThrow(
      saying(/inflated|middle/),
    );
    await expect(collect(streamRecords(inPieces(flipped, 100)))).rejects.toThrow(saying(/inflated/));
    await expect(collect(streamRecords(inPieces(Buffer.from('no gzip'), 100)))).rejects.toThrow(
      saying(/inflated/),
    );
    await expect(collect(streamRecords(inPieces(Buffer.alloc(0), 100)))).rejects.toThrow(
      saying(/middle|inflated/),
    );
  });

  it('passes on what the source throws', async () => {
    const lost = new PackhouseError({
      code: 'OBJECT_STORE_UNAVAILABLE',
      message: 'The connection was reset.',
    });
    const { gz } = await bundle();
    async function* failing(): AsyncGenerator<Buffer> {
      yield gz.subarray(0, 100);
      throw lost;
    }
    await expect(collect(streamRecords(failing()))).rejects.toBe(lost);
  });

  it('refuses a record larger than the limit while it holds less than the record', async () => {
    const { chunks } = await memberOfRecord(Buffer.from(`"${'a'.repeat(3_000_000)}"`));
    const source = inPieces(Buffer.concat(chunks), 10_000);
    await expect(collect(streamRecords(source, { maxRecordBytes: 500_000 }))).rejects.toThrow(
      saying(/larger than 500000 bytes/),
    );
  });
});

async function getElements(text: string, size = 7): Promise<string[]> {
  const elements: string[] = [];
  for await (const element of streamElements(inPieces(gzipSync(text), size)))
    elements.push(element.toString());
  return elements;
}

it('gives the elements of the one record, in whatever pieces the bundle arrives', async () => {
  const traces = Array.from({ length: 500 }, (_, n) =>
    JSON.stringify({ n, data: ['],"[', `${n}`.repeat(300)] }),
  );
  for (const size of [1, 1_000, 1_000_000]) {
    expect(await getElements(`[[${traces.join(',')}]]`, size)).toEqual(traces);
  }
  expect(await getElements('[[]]')).toEqual([]);
});

it('refuses what is no such bundle', async () => {
  for (const text of ['[[1,2]', '[[1,2]]]', '{"a":1}', '[{"a":1}]', '[[1],[2]]', '[', '']) {
    await expect(getElements(text), text).rejects.toSatisfy((error) =>
      isPackhouseError(error, 'BUNDLE_INVALID'),
    );
  }
});

it('refuses an element that is larger than allowed', async () => {
  const reading = streamElements(inPieces(gzipSync(`[["${'a'.repeat(200_000)}"]]`), 1_000), {
    maxElementBytes: 10_000,
  });
  await expect(reading.next()).rejects.toSatisfy((error) => isPackhouseError(error, 'BUNDLE_INVALID'));
});
