import { createProver, createSenderThreads, type Kind, type SenderThreads } from '@packhouse/chain';
import { ALL } from '@packhouse/recordings';
import type { FaultRule, RecordedBlock } from '@packhouse/replay-node';
import { afterEach, describe, expect, inject, test } from 'vitest';
import { makeWorld, type World } from '../testing/world.js';
import { ingest } from './ingest.js';

const FIRST = 17_686_110;
const FALSE_SENDER = `0x${'ab'.repeat(20)}`;
/** Without receipts and traces, which repeat senders, only signatures contradict a false one. */
const kinds: Kind[] = ['blocks', 'transactions'];
const window = { firstBlock: FIRST, lastBlock: FIRST + 3, kinds };

const falseSender = (block: number, place: number): FaultRule => ({
  when: { method: 'eth_getBlockByNumber', block },
  do: 'tamper',
  path: ['transactions', place, 'from'],
  value: FALSE_SENDER,
});

let world: World;
afterEach(() => world.close());

const staged = async () => (await world.database.network('main').coverage('transactions')).staged;
const retry = () => world.database.network('main').quarantine.retry(window);

// Generated blocks have no signatures to recover a sender from.
describe.each(ALL)('a lone node of $title that names false senders', (source) => {
  const blocks = (): RecordedBlock[] => source.blocks<RecordedBlock>('row').slice(0, 4);
  const begin = async (faults: FaultRule[]): Promise<void> => {
    world = await makeWorld(inject('postgresUrl'), [{ blocks: blocks(), faults }], {}, 20_000);
    await world.noteHead();
  };

  test('has none of its blocks staged, however often they are tried', async () => {
    await begin(
      blocks().flatMap(({ number, block: { transactions } }) =>
        [0.05, 0.15, 0.3].map((part) => falseSender(number, Math.floor(part * transactions.length))),
      ),
    );
    for (let tries = 1; tries <= 30; tries++) {
      await ingest(world.parts, window, world.context.signal, 1 + (tries % 5)).catch(() => undefined);
      await retry();
    }
    expect(await staged()).toEqual([]);
    const held = await world.database.network('main').quarantine.list();
    expect(held).toMatchObject([{ firstBlock: FIRST, lastBlock: FIRST + 3, cause: 'PROOF_FAILED' }]);
    expect(held[0]?.message).toContain(`from is ${FALSE_SENDER}`);
  });

  test('is not drawn again: with a sample, all senders of what failed once are recovered', async () => {
    const all = blocks().flatMap(({ number, block }) =>
      block.transactions.map((_, place) => falseSender(number, place)),
    );
    await begin(all);
    const prover = await createProver({ ...world.network.proofs, senders: 'sample' });
    const parts = { ...world.parts, prover };
    expect(await ingest(parts, window, world.context.signal)).toEqual({ staged: 0, failed: 4 });
    // From now on one sender of each block is false: three drawn ones would nearly never find all four.
    world.nodes[0]?.faults.clear();
    for (const { number, block } of blocks()) {
      world.nodes[0]?.faults.add(falseSender(number, block.transactions.length >> 1));
    }
    for (let tries = 0; tries < 3; tries++) {
      await retry();
      expect(await ingest(parts, window, world.context.signal)).toEqual({ staged: 0, failed: 4 });
    }
  });

  describe('and threads that recover senders', () => {
    const ingestWith = async (senders: SenderThreads): Promise<unknown> => {
      try {
        return await ingest({ ...world.parts, senders }, window, world.context.signal);
      } finally {
        await senders.close();
      }
    };

    test('find it beside the main thread', async () => {
      await begin([falseSender(FIRST + 1, 5)]);
      expect(await ingestWith(createSenderThreads())).toEqual({ staged: 3, failed: 1 });
      expect(await world.context.metrics.render()).not.toContain('packhouse_sender_thread_failures_total{');
    });

    test('that end leave the work to the main thread, which finds the same', async () => {
      await begin([falseSender(FIRST + 1, 5)]);
      const program = new URL('data:text/javascript,process.exit(3)');
      expect(await ingestWith(createSenderThreads({ program }))).toEqual({ staged: 3, failed: 1 });
      expect(await world.context.metrics.render()).toContain(
        'packhouse_sender_thread_failures_total{network="main"} 4',
      );
    });
  });
});
