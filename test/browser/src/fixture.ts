import { randomUUID } from 'node:crypto';
import { createDatabase, type Database } from '@packhouse/database';
import { addOperator, makeLink, type OperationParts } from '@packhouse/operations';
import { createLogger, createMetrics, systemClock } from '@packhouse/runtime';

/** Names that would do harm or break a page if they were taken for anything but text. */
export const HOSTILE = {
  html: '<img src=x onerror="window.harmed=1"><script>window.harmed=1</script>',
  /** Turns the direction of what follows. */
  rtl: 'abc\u202Egnp.exe \u05D0\u05D1\u05D2',
  emoji: '👩‍👩‍👧‍👦🏴‍☠️',
  long: 'x'.repeat(10_000),
};

export const PASSWORD = 'correct horse battery';
const HASH = `0x${'0'.repeat(64)}`;
const HEAD = 20_000;
const context = {
  logger: createLogger({ name: 'test', level: 'silent' }),
  metrics: createMetrics(),
  clock: systemClock,
  signal: new AbortController().signal,
};

/** Opens a test's database. */
export function openDatabase(connectionString: string): Database {
  return createDatabase({ connectionString, context, applicationName: 'test' });
}

/** A link that signs the operator in once: the path and hash of its address. */
export async function linkOf(database: Database, name: string): Promise<string> {
  return (await makeLink.run(partsOf(database), { name })).path;
}

/** Writes operators (ada, an admin, has PASSWORD) and an installation of which every screen has something to show. */
export async function fillDatabase(database: Database): Promise<void> {
  const parts = partsOf(database);
  await addOperator.run(parts, { name: 'ada', role: 'admin', password: PASSWORD });
  await addOperator.run(parts, { name: HOSTILE.html, role: 'viewer' });
  await addOperator.run(parts, { name: HOSTILE.rtl, role: 'viewer' });
  for (const [id, chainId] of [
    ['main', 1],
    ['side', 100],
    [HOSTILE.emoji, 7],
  ] as const) {
    await database.networks.register({ id, chainId });
  }
  await fillMain(database);
  await database.network('side').alarms.raise({ name: 'NODE_LIES', message: HOSTILE.html });
  await database.network('side').alarms.raise({ name: 'NODE_BEHIND', message: HOSTILE.long });
  await database.network(HOSTILE.emoji).alarms.raise({ name: 'NODE_LIES', message: HOSTILE.rtl });
  for (const application of [HOSTILE.html, HOSTILE.rtl, HOSTILE.emoji, HOSTILE.long, 'shop']) {
    await database.keys.create({ application, network: null, plan: 'free' });
  }
  await database.workers.beat({
    ...{ id: randomUUID(), role: 'ingester', host: HOSTILE.html, pid: 1, networks: ['main'] },
    ...{ networksDigest: 'aa', networksProblem: HOSTILE.long, slots: 4, doing: [{ job: 'j', seconds: 3 }] },
  });
}

/** Blocks 1,000 to 20,000 are wanted: published, quarantined, paused and waiting ones. */
async function fillMain(database: Database): Promise<void> {
  const main = database.network('main');
  await main.head.set({ number: HEAD, hash: HASH, finalized: HEAD - 64 });
  await main.wanted.add({ kinds: ['blocks', 'logs', 'receipts'], start: 1_000, end: null, priority: 1 });
  const { id } = await main.wanted.add({ kinds: ['logs'], start: 500, end: 999, priority: 1 });
  await database.wanted.change(id, { state: 'paused' });
  for (const kind of ['blocks', 'logs'] as const) {
    for (let start = 1_000; start < 15_000; start += 1_000) {
      const end = start + 999;
      await main.bundles.publish({
        ...{ kind, start, end, objectKey: `${kind}-${start}`, byteLength: 900, rawLength: 4_000 },
        ...{ sha256: HASH.slice(2), firstHash: HASH, firstParentHash: HASH, lastHash: HASH },
        ...{ proofs: [], formatVersion: 1 },
        fragments: [{ startBlock: start, endBlock: end, byteLength: 900, rawLength: 4_000, crc32: 1 }],
      });
    }
  }
  const upstreams = ['https://a.example', HOSTILE.html, HOSTILE.rtl];
  await main.quarantine.put({
    ...{ number: 15_500, end: 15_503, kinds: ['logs'], cause: 'PROOF_FAILED' },
    ...{ message: HOSTILE.html, upstream: HOSTILE.html, payloadDigest: 'ab'.repeat(32) },
    tried: upstreams.map((upstream, i) => ({
      ...{
        upstream,
        cause: 'PROOF_FAILED',
        message: i === 2 ? HOSTILE.long : 'The root of the logs differs.',
      },
      payloadDigest: `${i}a`.repeat(32),
    })),
  });
}

const partsOf = (database: Database): OperationParts => ({ context, database, who: 'test' });
