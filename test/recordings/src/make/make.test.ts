import { expect, it } from 'vitest';
import { makeFiles } from './write.js';

it('the program makes the blocks of the clone again', async () => {
  const found = await makeFiles({ write: false });
  expect(found.map(({ name, blocks, same }) => ({ name, blocks, same }))).toEqual([
    { name: 'made-forks.jsonl.gz', blocks: 20, same: true },
    { name: 'made-row.jsonl.gz', blocks: 12, same: true },
  ]);
  // each clone downloads them
  expect(found.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(1_500_000);
});
