import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const root = new URL('../', import.meta.url);

it.each(['json', 'deflate', 'records', 'scan'])(
  'the bytes of %s are of its sources; if not: npm run kernel -w packages/kernels',
  (room) => {
    const hash = createHash('sha256');
    for (const folder of [`kernel/${room}`, 'kernel/shared']) {
      for (const name of readdirSync(new URL(folder, root)).sort()) {
        hash.update(readFileSync(new URL(`${folder}/${name}`, root)));
      }
    }
    hash.update(readFileSync(new URL('src/layout.ts', root)));
    const compiled = readFileSync(new URL(`src/bytes/${room}.ts`, root), 'utf8');
    expect(compiled).toContain(hash.digest('hex'));
  },
);
