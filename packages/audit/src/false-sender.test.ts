import { KINDS, type Kind } from '@packhouse/chain';
import { makeWorld, type World } from '@packhouse/pipeline/testing/world.js';
import { ALL } from '@packhouse/recordings';
import type { FaultRule, RecordedBlock } from '@packhouse/replay-node';
import { afterEach, describe, expect, inject, test } from 'vitest';
import { auditAndRepair, auditWorld, getRecords, republish, rowAt } from './testing/audited.js';

const FIRST = 17_686_110;
const HURT = FIRST + 2;
const FALSE_SENDER = `0x${'ab'.repeat(20)}`;

const lie: FaultRule = {
  when: { method: 'eth_getBlockByNumber', block: HURT },
  do: 'tamper',
  path: ['transactions', 1, 'from'],
  value: FALSE_SENDER,
};

let world: World;
afterEach(() => world.close());

async function beginWith(blocks: RecordedBlock[], nodes: readonly FaultRule[][]): Promise<void> {
  world = await makeWorld(
    inject('postgresUrl'),
    nodes.map((faults) => ({ blocks, faults })),
    { maxBlocks: 4 },
    20_000,
  );
  await world.want(FIRST, FIRST + 3);
  await world.noteHead();
  await world.settle();
}

const quarantined = async () =>
  (await world.database.network('main').quarantine.list()).map(({ firstBlock, lastBlock, kinds, cause }) => [
    firstBlock,
    lastBlock,
    kinds.join(),
    cause,
  ]);

async function publishedSender(kind: 'blocks' | 'transactions'): Promise<unknown> {
  const record = JSON.parse((await world.published(kind)).get(HURT) as string);
  return (kind === 'blocks' ? record.transactions : record)[1].from;
}

// Generated blocks have no signatures to recover a sender from.
describe.each(ALL)('in $title, a false sender', (source) => {
  const begin = (nodes: readonly FaultRule[][]): Promise<void> =>
    beginWith(source.blocks<RecordedBlock>('row').slice(0, 4), nodes);

  test('of a transaction holds back its block in all kinds until the node heals, and is never published', async () => {
    await begin([[lie]]);
    expect(await quarantined()).toEqual([[HURT, HURT, KINDS.join(), 'PROOF_FAILED']]);
    const [row] = await world.database.network('main').quarantine.list();
    expect(row?.message).toContain(`transactions[1].from is ${FALSE_SENDER}`);
    for (const kind of KINDS) expect((await world.published(kind)).has(HURT)).toBe(false);

    world.nodes[0]?.faults.clear();
    await world.database.network('main').quarantine.retry({ firstBlock: 0, lastBlock: HURT });
    await world.settle();
    expect(await quarantined()).toEqual([]);
    expect((await auditWorld(world)).findings).toEqual([]);
    expect(await publishedSender('transactions')).not.toBe(FALSE_SENDER);
  });

  test('at one node is not taken for want of traces at the other', async () => {
    const noTraces: FaultRule = {
      when: { method: 'trace_block', block: HURT },
      do: 'rpcError',
      message: 'pruned',
    };
    const noDebug: FaultRule = {
      when: { method: 'debug_traceBlockByHash', block: HURT },
      do: 'rpcError',
      message: 'pruned',
    };
    await begin([[lie], [noTraces, noDebug]]);
    expect(await quarantined()).toEqual([[HURT, HURT, 'traces', expect.any(String)]]);
    expect(await publishedSender('blocks')).not.toBe(FALSE_SENDER);
    expect((await auditWorld(world)).findings).toEqual([]);
  });

  test('that was published is named in the files that hold it, and repaired with one command', async () => {
    await begin([[]]);
    const publish = async (kind: Kind, change: (record: never) => unknown): Promise<void> => {
      const row = await rowAt(world, kind, HURT);
      const records = await getRecords(world.objectStore, row);
      const at = HURT - row.firstBlock;
      records[at] = JSON.stringify(change(JSON.parse(records[at] as string) as never));
      await republish(world, row, records);
    };
    type Tx = Record<string, unknown>;
    const falsified = (txs: Tx[]): Tx[] => txs.map((tx, i) => (i === 1 ? { ...tx, from: FALSE_SENDER } : tx));
    await publish('transactions', falsified);
    await publish('blocks', (block: { transactions: Tx[] }) => ({
      ...block,
      transactions: falsified(block.transactions),
    }));
    const named = ({ findings }: Awaited<ReturnType<typeof auditWorld>>) =>
      findings.map(({ kind, cause, block }) => [kind, cause, block]);
    expect(named(await auditWorld(world))).toEqual([
      ['blocks', 'senders', HURT],
      ['transactions', 'senders', HURT],
    ]);
    // Receipts that are not audited are read aside.
    expect(named(await auditWorld(world, { kinds: ['blocks', 'transactions', 'traces'] }))).toEqual([
      ['blocks', 'senders', HURT],
      ['transactions', 'senders', HURT],
    ]);

    // A node that still says the false sender repairs nothing.
    world.nodes[0]?.faults.add(lie);
    const { outcome: early } = await auditAndRepair(world);
    expect(early.repairs.map(({ state }) => state)).toEqual(['failed', 'failed']);
    expect(early.standing).toBe(2);

    world.nodes[0]?.faults.clear();
    const { outcome } = await auditAndRepair(world);
    expect(outcome.repairs.map(({ state, bundle }) => [bundle.kind, state])).toEqual([
      ['blocks', 'repaired'],
      ['transactions', 'repaired'],
    ]);
    expect(outcome).toMatchObject({ standing: 0, damaged: [] });
    expect((await auditWorld(world)).findings).toEqual([]);
    expect(await publishedSender('blocks')).not.toBe(FALSE_SENDER);
  });

  test('is named in both files without any other kind, if their rows claim the senders', async () => {
    await begin([[]]);
    for (const kind of ['blocks', 'transactions'] as const) {
      const row = await rowAt(world, kind, HURT);
      const records = await getRecords(world.objectStore, row);
      const record = JSON.parse(records[2] as string);
      (kind === 'blocks' ? record.transactions : record)[1].from = FALSE_SENDER;
      records[2] = JSON.stringify(record);
      await republish(world, row, records, { proofs: [...row.proofs, 'senders'] });
    }
    const { findings } = await auditWorld(world, { kinds: ['blocks', 'transactions'], objects: false });
    expect(findings.map(({ kind, cause }) => [kind, cause])).toEqual([
      ['blocks', 'senders'],
      ['transactions', 'senders'],
    ]);
  });

  test('in the file of the transactions alone is named there', async () => {
    await begin([[]]);
    const row = await rowAt(world, 'transactions', HURT);
    const records = await getRecords(world.objectStore, row);
    const txs = JSON.parse(records[2] as string);
    txs[1].from = FALSE_SENDER;
    records[2] = JSON.stringify(txs);
    await republish(world, row, records);
    const { findings } = await auditWorld(world);
    expect(findings.map(({ kind, cause }) => [kind, cause])).toEqual([['transactions', 'senders']]);
  });
});
