import path from 'node:path';
import { KINDS, type Kind } from '@packhouse/chain';
import { chainDataDirectory, loadRecording, type RecordedBlock } from '@packhouse/replay-node';
import { describe, expect, inject, test } from 'vitest';
import { auditWorld } from '../testing/audited.js';
import { makeWorld } from '../testing/world.js';

const directory = chainDataDirectory();

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

describe.skipIf(directory === null)('an audit of real blocks (needs the chain data)', () => {
  const load = (name: string): Promise<RecordedBlock[]> =>
    loadRecording(path.join(directory as string, name));

  test('twelve mainnet blocks are clean in all kinds', async () => {
    const blocks = await load('mainnet-17686110-17686121.jsonl.gz');
    const { findings, summary } = await getAudit(blocks);
    expect(findings).toEqual([]);
    expect(summary).toMatchObject({
      blocks: 60,
      // The recording leaves them out.
      unchecked: [
        { kind: 'blocks', blocks: 12, reason: expect.stringMatching(/^the withdrawals are missing/) },
      ],
    });
  });

  test('two thousand of the first blocks, many to a bundle, are clean', async () => {
    const blocks = (await load('mainnet-0-8191.jsonl.gz')).slice(0, 2_000);
    const { findings, summary } = await getAudit(blocks, ['blocks', 'transactions', 'receipts', 'logs']);
    expect(findings).toEqual([]);
    expect(summary).toMatchObject({ blocks: 8_000, unchecked: [] });
  });

  test('blocks of every fork are clean in the kinds there are recordings of', async () => {
    const all = await load('mainnet-forks.jsonl.gz');
    const kinds = ['blocks', 'transactions', 'receipts', 'logs'] as const;
    const blocks = all.filter(({ receipts }) => receipts !== undefined);
    expect(blocks.length).toBeGreaterThan(5);
    const { findings, summary } = await getAudit(blocks, [...kinds]);
    expect(findings).toEqual([]);
    expect(summary).toMatchObject({ blocks: 4 * blocks.length, unchecked: [] });
  });
});
