import { gzipSync } from 'node:zlib';
import { isPackhouseError } from '@packhouse/runtime';
import { expect, it } from 'vitest';
import { readElements } from './read-elements.js';

async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function elementsOf(text: string, size = 7): Promise<string[]> {
  const elements: string[] = [];
  for await (const element of readElements(inPieces(gzipSync(text), size))) elements.push(element.toString());
  return elements;
}

it('gives the elements of the one record, in whatever pieces the bundle arrives', async () => {
  const traces = Array.from({ length: 500 }, (_, n) =>
    JSON.stringify({ n, data: ['],"[', `${n}`.repeat(300)] }),
  );
  for (const size of [1, 1_000, 1_000_000]) {
    expect(await elementsOf(`[[${traces.join(',')}]]`, size)).toEqual(traces);
  }
  expect(await elementsOf('[[]]')).toEqual([]);
});

it('refuses what is no such bundle', async () => {
  for (const text of ['[[1,2]', '[[1,2]]]', '{"a":1}', '[{"a":1}]', '[[1],[2]]', '[', '']) {
    await expect(elementsOf(text), text).rejects.toSatisfy((error) =>
      isPackhouseError(error, 'BUNDLE_INVALID'),
    );
  }
});

it('refuses an element that is larger than allowed', async () => {
  const reading = readElements(inPieces(gzipSync(`[["${'a'.repeat(200_000)}"]]`), 1_000), {
    maxElementBytes: 10_000,
  });
  await expect(reading.next()).rejects.toSatisfy((error) => isPackhouseError(error, 'BUNDLE_INVALID'));
});
