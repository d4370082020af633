import { KINDS, type Kind } from '@packhouse/chain';
import { makeWorld } from '@packhouse/pipeline/testing/world.js';
import { ALL } from '@packhouse/recordings';
import type { RecordedBlock } from '@packhouse/replay-node';
import { describe, expect, inject, test } from 'vitest';
import { auditWorld } from '../testing/audited.js';

/** Publishes these blocks and audits them. */
async function getAudit(
  blocks: RecordedBlock[],
  kinds: readonly Kind[] = KINDS,
): Promise<ReturnType<typeof auditWorld>> {
  const world = await makeWorld(inject('postgresUrl'), [{ blocks }], { kinds });
  try {
    for (const { number } of blocks.filter(({ number }, i) => blocks[i - 1]?.number !== number - 1)) {
      let to = number;
      while (blocks.some((block) => block.number === to + 1)) to++;
      await world.database.network('main').backfills.add({
        kinds: [...kinds],
        from: number,
        to,
        priority: 1,
      });
    }
    await world.noteHead();
    await world.settle();
    expect(await world.database.network('main').quarantine.list()).toEqual([]);
    return await auditWorld(world);
  } finally {
    await world.close();
  }
}

describe.each(ALL)('an audit of $title', (source) => {
  test('twelve mainnet blocks are clean in all kinds', async () => {
    const blocks = source.blocks<RecordedBlock>('row');
    // A recording may leave them out.
    const unchecked = blocks.filter(({ block }) => block.withdrawals === undefined).length;
    const { findings, summary } = await getAudit(blocks);
    expect(findings).toEqual([]);
    expect(summary).toMatchObject({
      blocks: 60,
      unchecked:
        unchecked === 0
          ? []
          : [
              {
                kind: 'blocks',
                blocks: unchecked,
                reason: expect.stringMatching(/^the withdrawals are missing/),
              },
            ],
    });
  });

  test('very many of the first blocks, many to a bundle, are clean', async () => {
    const blocks = source.blocks<RecordedBlock>('early').slice(0, 2_000);
    expect(blocks.length).toBeGreaterThan(1_000);
    const { findings, summary } = await getAudit(blocks, ['blocks', 'transactions', 'receipts', 'logs']);
    expect(findings).toEqual([]);
    expect(summary).toMatchObject({ blocks: 4 * blocks.length, unchecked: [] });
  });

  test('blocks of every fork are clean in the kinds there are recordings of', async () => {
    const all = source.blocks<RecordedBlock>('forks');
    const kinds = ['blocks', 'transactions', 'receipts', 'logs'] as const;
    const blocks = all.filter(({ receipts }) => receipts !== undefined);
    expect(blocks.length).toBeGreaterThan(5);
    const { findings, summary } = await getAudit(blocks, [...kinds]);
    expect(findings).toEqual([]);
    expect(summary).toMatchObject({ blocks: 4 * blocks.length, unchecked: [] });
  });
});
