import { generateChain } from '@packhouse/replay-node';
import type { JsonRecord } from '@packhouse/rows';
import { expect, it } from 'vitest';
import { checkHeader } from './check-header.js';

const [{ block }] = generateChain({ length: 1, txsPerBlock: 2 }) as unknown as [{ block: JsonRecord }];

it('accepts the header of a block, and refuses one that was changed, by name', async () => {
  await checkHeader(block, 1);
  await expect(checkHeader({ ...block, gasUsed: '0x1' }, 1)).rejects.toMatchObject({
    code: 'FEED_INVALID',
    message: expect.stringMatching(/^The header of the new block \d+ does not hash to 0x/),
  });
});

it('does not judge headers of a chain whose rules are not known', async () => {
  await checkHeader({ ...block, gasUsed: '0x1' }, 424_242);
});
