import { KINDS } from '@packhouse/chain';
import { forkChain, type RecordedBlock } from '@packhouse/replay-node';
import { coverage, holeNeeds } from '@packhouse/report';
import { afterEach, describe, expect, inject, test } from 'vitest';
import { chainFrom } from '../testing/chains.js';
import { makeWorld, type World } from '../testing/world.js';

/** The first of a segment; the chain forks at its tenth and at its twentieth block. */
const FIRST = 1_024;
const AMSTERDAM = FIRST + 10;
const INVENTED = FIRST + 20;
const LAST = FIRST + 39;
const chain = chainFrom(FIRST, 40);
const KNOWABLE = forkChain(chain, { amsterdam: AMSTERDAM, invented: INVENTED, as: 'appended' });
const UNKNOWABLE = forkChain(chain, { amsterdam: AMSTERDAM, invented: INVENTED, as: 'hashed' });

let world: World;
afterEach(() => world.close());

async function begin(chains: readonly RecordedBlock[][], finalized = LAST): Promise<void> {
  world = await makeWorld(
    inject('postgresUrl'),
    chains.map((blocks) => ({ blocks, finalized })),
  );
  await world.want(FIRST, LAST);
}

async function backfill(): Promise<void> {
  await world.noteHead();
  await world.settle();
}

const rows = () => world.quarantined();

const alarms = async () =>
  (await world.database.network('main').alarms.list()).map(({ name, message }) => [name, message]);

const blockCalls = (): number =>
  world.nodes.reduce((sum, node) => sum + (node.stats().callsByMethod.eth_getBlockByNumber ?? 0), 0);

const SENTENCE =
  'has the field inventedRoot, which is new to this version, and its hash does not match without the rule for it; node-1 and node-2 agree byte for byte, so the fork is unknown to this version';

describe('a fork whose new field the hash needs at its end', () => {
  test('is proved and published, counted, and named once', async () => {
    await begin([KNOWABLE, KNOWABLE]);
    await backfill();
    expect(await rows()).toEqual([]);
    for (const kind of KINDS) expect((await world.published(kind)).size, kind).toBe(40);
    expect(JSON.parse((await world.published('blocks')).get(LAST) as string).inventedRoot).toMatch(/^0x0e0e/);
    const [[name, message] = [], ...more] = await alarms();
    expect([name, more]).toEqual(['FIELDS_UNKNOWN', []]);
    expect(message).toMatch(
      /^From block \d+ on headers have fields that are new to this version \(inventedRoot\)\./,
    );
    expect(await world.context.metrics.render()).toContain(
      'packhouse_unknown_fields_total{network="main"} 20',
    );
  });
});

describe('a fork whose hash this version cannot make', () => {
  test('is one range with one alarm, and nobody is called a liar', async () => {
    await begin([UNKNOWABLE, UNKNOWABLE]);
    await backfill();
    expect(await rows()).toEqual([[INVENTED, LAST, KINDS.join(), 'FORK_UNKNOWN']]);
    expect(await alarms()).toEqual([
      ['FORK_UNKNOWN', `From block ${INVENTED} on a header ${SENTENCE}. Update Packhouse.`],
    ]);
    for (const kind of KINDS) expect((await world.published(kind)).size, kind).toBe(20);
    expect(world.parts.source.status().map(({ healthy }) => healthy)).toEqual([true, true]);
    expect(await world.context.metrics.render()).not.toMatch(
      /packhouse_upstream_invalid_responses_total\{.*\} [1-9]/,
    );
    const request = { network: 'main', kinds: ['logs'] as const, from: INVENTED, limit: 10 };
    const hole = (await coverage(world, request)).kinds[0]?.holes[0];
    expect(holeNeeds(hole as NonNullable<typeof hole>)).toMatch(
      /^its fork is new to this version, which has to be updated; the next try is due at/,
    );
  });

  test.each<[string, unknown]>([
    ['an address', `0x${'ab'.repeat(20)}`],
    ['bytes of another length', `0x${'00'.repeat(96)}`],
    ['a list', ['0x1', `0x${'ab'.repeat(32)}`]],
    ['an empty list', []],
    ['an object', { epoch: 7, root: `0x${'ab'.repeat(32)}` }],
  ])('is said to be that if its field is %s', async (_, value) => {
    const blocks = forkChain(chain.slice(0, 22), {
      amsterdam: AMSTERDAM,
      invented: INVENTED,
      as: 'hashed',
      value,
    });
    world = await makeWorld(
      inject('postgresUrl'),
      [blocks, blocks].map((each) => ({ blocks: each, finalized: INVENTED + 1 })),
    );
    await world.want(FIRST, INVENTED + 1);
    await backfill();
    expect(await rows()).toEqual([[INVENTED, INVENTED + 1, KINDS.join(), 'FORK_UNKNOWN']]);
    expect(await alarms()).toEqual([
      ['FORK_UNKNOWN', `From block ${INVENTED} on a header ${SENTENCE}. Update Packhouse.`],
    ]);
    expect(world.parts.source.status().map(({ healthy }) => healthy)).toEqual([true, true]);
  });

  test('is tried by one block at a time, and released once that is proved', async () => {
    await begin([UNKNOWABLE, UNKNOWABLE]);
    await backfill();
    const { quarantine } = world.database.network('main');
    for (const attempts of [2, 3]) {
      await quarantine.retry({ firstBlock: INVENTED, lastBlock: LAST });
      const before = blockCalls();
      await world.settle();
      expect(blockCalls() - before).toBe(2);
      expect(await rows()).toEqual([[INVENTED, LAST, KINDS.join(), 'FORK_UNKNOWN']]);
      expect((await quarantine.list())[0]?.attempts).toBe(attempts);
    }

    for (const node of world.nodes) node.setBlocks(KNOWABLE);
    await quarantine.retry({ firstBlock: INVENTED, lastBlock: LAST });
    await world.settle();
    expect(await rows()).toEqual([]);
    for (const kind of KINDS) expect((await world.published(kind)).size, kind).toBe(40);
    expect((await alarms()).map(([name]) => name)).toEqual(['FIELDS_UNKNOWN']);
  });

  test('stops at its first block at the head too, and is not asked for until the next try', async () => {
    await begin([UNKNOWABLE, UNKNOWABLE], FIRST + 14);
    await world.follow();
    expect(await rows()).toEqual([[INVENTED, LAST, KINDS.join(), 'FORK_UNKNOWN']]);
    expect((await world.database.network('main').coverage('traces')).staged).toEqual([
      { firstBlock: FIRST + 15, lastBlock: INVENTED - 1 },
    ]);
    expect(await world.follow()).toMatchObject({ staged: 0, failures: [] });

    for (const node of world.nodes) node.setBlocks(KNOWABLE);
    await world.database.network('main').quarantine.retry({ firstBlock: INVENTED, lastBlock: LAST });
    await world.follow();
    expect(await rows()).toEqual([]);
    await world.follow();
    expect((await world.database.network('main').coverage('traces')).staged).toEqual([
      { firstBlock: FIRST + 15, lastBlock: LAST },
    ]);
  });

  test('is none if a later block is proved: only the one that failed is held back', async () => {
    const chains = [...KNOWABLE.slice(0, 20), UNKNOWABLE[20] as RecordedBlock, ...KNOWABLE.slice(21)];
    await begin([chains, chains]);
    await backfill();
    expect(await rows()).toEqual([[INVENTED, INVENTED, KINDS.join(), 'PROOF_FAILED']]);
    expect((await world.published('logs')).size).toBe(39);
    expect((await alarms()).map(([name]) => name)).toEqual(['FIELDS_UNKNOWN']);
  });

  test('is only a failed proof if a single upstream shows it, or another one contradicts', async () => {
    await begin([UNKNOWABLE]);
    await backfill();
    expect(await rows()).toEqual([[INVENTED, LAST, KINDS.join(), 'PROOF_FAILED']]);
    expect(world.parts.source.status().map(({ healthy }) => healthy)).toEqual([true]);
    expect(await alarms()).toEqual([]);
    await world.close();

    await begin([UNKNOWABLE, KNOWABLE, KNOWABLE]);
    await backfill();
    expect(await rows()).toEqual([]);
    expect((await world.published('logs')).size).toBe(40);
    expect(world.parts.source.status().map(({ healthy }) => healthy)).toEqual([false, true, true]);
    await world.close();

    await begin([UNKNOWABLE, KNOWABLE]);
    await expect(backfill()).rejects.toMatchObject({ code: 'NODES_DISAGREE' });
    expect((await world.published('logs')).size).toBe(0);
  });
});
