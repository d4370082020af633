import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { Recorded } from '../recordings.js';
import { makeForks } from './forks.js';
import { makeRow } from './row.js';

const MAKERS: Readonly<Record<string, () => AsyncIterable<Recorded>>> = {
  'made-forks.jsonl.gz': makeForks,
  'made-row.jsonl.gz': makeRow,
};

/** What became of a file. */
interface Made {
  name: string;
  blocks: number;
  bytes: number;
  /** Whether it held the same before. */
  same: boolean;
}

/**
 * Makes the blocks anew and writes their files, if `write` says so and they hold something else. The texts are what is
 * compared: how well a text is packed depends on the version of zlib in Node.
 */
export async function makeFiles({ write }: { write: boolean }): Promise<Made[]> {
  const found: Made[] = [];
  for (const [name, make] of Object.entries(MAKERS)) {
    const path = fileURLToPath(new URL(`../../blocks/${name}`, import.meta.url));
    let text = '';
    let blocks = 0;
    for await (const block of make()) {
      text += `${JSON.stringify(block)}\n`;
      blocks += 1;
    }
    const same = existsSync(path) && gunzipSync(readFileSync(path)).toString('latin1') === text;
    const packed = gzipSync(text, { level: 9 });
    if (write && !same) writeFileSync(path, packed);
    found.push({ name, blocks, bytes: packed.length, same });
  }
  return found;
}
