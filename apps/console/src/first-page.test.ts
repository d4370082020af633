import { readdirSync, readFileSync } from 'node:fs';
import { brotliDecompressSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';

const PAGES = new URL('../dist/web/', import.meta.url);
/** Bytes, gzipped: half a second of a fast 3G connection (1.6 Mbit/s). */
const MAX_BYTES = 120_000;

test('the first page and all that it loads are at most 120 kB, gzipped', () => {
  const page = readFileSync(new URL('index.html', PAGES), 'utf8');
  const files = [...page.matchAll(/(?:src|href)="\/?(assets\/[^"]+)"/g)].map(([, name]) => name ?? '');
  expect(files.length).toBeGreaterThanOrEqual(1);
  const bytes = [page, ...files.map((name) => readFileSync(new URL(name, PAGES)))]
    .map((content) => gzipSync(content).length)
    .reduce((sum, each) => sum + each, 0);
  expect(bytes).toBeLessThanOrEqual(MAX_BYTES);
  // The styles are in the HTML, and no chunk of another screen is in the page.
  expect(files.filter((name) => !/^assets\/(index|jsxRuntime)-[\w-]+\.js$/.test(name))).toEqual([]);
});

test('each file of the pages is there compressed, as the console sends it to browsers that take it', () => {
  const names = readdirSync(PAGES, { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => /\.(html|js|css)$/.test(name));
  expect(files.length).toBeGreaterThanOrEqual(3);
  for (const name of files) {
    const compressed = readFileSync(new URL(`${name}.br`, PAGES));
    expect(brotliDecompressSync(compressed).equals(readFileSync(new URL(name, PAGES)))).toBe(true);
  }
});
