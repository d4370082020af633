import { once } from 'node:events';
import * as zlib from 'node:zlib';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import { createContentCodings, MIN_CODED } from './content-coding.js';

const HAS_ZSTD = 'createZstdCompress' in zlib;
/** The coding that is taken where all are wanted alike, and the one after it. */
const [FIRST, SECOND] = ['br', HAS_ZSTD ? 'zstd' : 'gzip'];

describe('the coding of an answer', () => {
  const { choose } = createContentCodings();

  it.each<[string | undefined, string | null]>([
    [undefined, null],
    ['', null],
    ['identity', null],
    ['compress, sdch', null],
    ['gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['x-gzip', 'gzip'],
    ['gzip, deflate, br, zstd', FIRST],
    ['gzip, deflate', 'gzip'],
    ['br;q=0.5, gzip', 'gzip'],
    ['br;q=0.5,gzip;q=0.4', 'br'],
    ['br;q=0, gzip;q=0.001', 'gzip'],
    ['gzip;q=0', null],
    ['gzip ; q=0.000', null],
    ['gzip;q=0.5, identity', null],
    ['gzip;q=0.5, identity;q=0.5', 'gzip'],
    ['*', FIRST],
    ['*;q=0.1, br;q=0', SECOND],
    ['*;q=0', null],
    ['*;q=0, gzip', 'gzip'],
    ['gzip;q=2', null],
    ['gzip;level=1', null],
    [';q=1,,br', 'br'],
    ['zstd', HAS_ZSTD ? 'zstd' : null],
  ])('to %j is %j', (accepted, coding) => {
    expect(choose(accepted, MIN_CODED)).toBe(coding);
  });

  it('is none for a small one, unless the client refuses it as it is', () => {
    expect(choose('gzip', MIN_CODED - 1)).toBe(null);
    expect(choose('gzip, identity;q=0', 10)).toBe('gzip');
    expect(choose('gzip, *;q=0', 10)).toBe('gzip');
    expect(choose('identity;q=0', 10)).toBe(null);
  });
});

it('no more answers are compressed at a time than may be; those that end make room', async () => {
  const codings = createContentCodings(2);
  const [one, two] = [codings.open('gzip', false), codings.open('br', true)];
  expect(codings.choose('gzip', 1e6)).toBe(null);
  one.destroy();
  await once(one, 'close');
  expect(codings.choose('gzip', 1e6)).toBe('gzip');
  two.on('data', () => undefined).end('x');
  await once(two, 'close');
});

it.each(['br', 'gzip', ...(HAS_ZSTD ? (['zstd'] as const) : [])] as const)(
  '%s sends each piece of a stream when it is written, and all of it is read back',
  async (coding) => {
    const encoder = createContentCodings().open(coding, true);
    const chunks: Buffer[] = [];
    encoder.on('data', (chunk: Buffer) => chunks.push(chunk));
    encoder.write('{"a":1}');
    await vi.waitFor(() => expect(chunks.length).toBeGreaterThan(0));
    encoder.end(Buffer.alloc(200_000, 'x'));
    await once(encoder, 'close');
    const coded = Buffer.concat(chunks);
    expect(coded.length).toBeLessThan(5_000);
    const decode =
      coding === 'br'
        ? brotliDecompressSync
        : coding === 'gzip'
          ? gunzipSync
          : (zlib as unknown as { zstdDecompressSync(bytes: Buffer): Buffer }).zstdDecompressSync;
    expect(decode(coded).toString()).toBe(`{"a":1}${'x'.repeat(200_000)}`);
  },
);
