import { createHash, randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { createDatabase, type Database } from '@packhouse/database';
import { silentContext } from '@packhouse/local';
import { createSigner, makeSigningKey, readSigningKey } from '@packhouse/manifest';
import { addHook, addNotification, addOperator, makeLink, type OperationParts } from '@packhouse/operations';
import { createQueues } from '@packhouse/queue';

/** Names that would do harm or break a page if they were taken for anything but text. */
export const HOSTILE = {
  html: '<img src=x onerror="window.harmed=1"><script>window.harmed=1</script>',
  /** Turns the direction of what follows. */
  rtl: 'abc\u202Egnp.exe \u05D0\u05D1\u05D2',
  emoji: '👩‍👩‍👧‍👦🏴‍☠️',
  long: 'x'.repeat(10_000),
};

/** Of the addresses of receivers: no list shows it. */
export const SECRET_PATH = 's3cret';
export const PASSWORD = 'correct horse battery';
const HASH = `0x${'0'.repeat(64)}`;
const HEAD = 20_000;
const context = silentContext();

/** Opens a test's database. */
export function openDatabase(connectionString: string): Database {
  return createDatabase({ connectionString, context, applicationName: 'test' });
}

/** A link that signs the operator in once: the path and hash of its address. */
export async function getLink(database: Database, name: string): Promise<string> {
  return (await makeLink.run(getParts(database), { name })).path;
}

/** An admin, who has PASSWORD. */
export const addAda = async (database: Database) =>
  void (await addOperator.run(getParts(database), { name: 'ada', role: 'admin', password: PASSWORD }));

/** Writes operators (ada, an admin, has PASSWORD) and an installation of which every screen has something to show. */
export async function fillDatabase(database: Database, objects: string): Promise<void> {
  const parts = getParts(database);
  await addAda(database);
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
  await publishFiles(database, objects);
  await database.network('side').alarms.raise({ name: 'NODE_ANSWER_FALSE', message: HOSTILE.html });
  await database.network('side').alarms.raise({ name: 'NODE_BEHIND', message: HOSTILE.long });
  await database.network(HOSTILE.emoji).alarms.raise({ name: 'NODE_ANSWER_FALSE', message: HOSTILE.rtl });
  for (const application of [HOSTILE.html, HOSTILE.rtl, HOSTILE.emoji, HOSTILE.long, 'shop']) {
    await database.keys.create({ application, network: null, plan: 'free' });
  }
  await addReceivers(database);
  await database.workers.heartbeat({
    id: randomUUID(),
    role: 'ingester',
    host: HOSTILE.html,
    pid: 1,
    networks: ['main'],
    networksDigest: 'aa',
    networksProblem: HOSTILE.long,
    slots: 4,
    jobs: [{ job: 'j', seconds: 3 }],
  });
}

/** A webhook whose tests had hostile answers, and a channel. */
async function addReceivers(database: Database): Promise<void> {
  const parts = getParts(database);
  const url = `https://receiver.example/${SECRET_PATH}`;
  const rest = { finalOnly: false, addresses: [], topics: [] };
  const hook = await addHook.run(parts, { url, network: 'main', kinds: ['logs'], ...rest });
  await database.hookDeliveries.noteTest(hook.id, HOSTILE.long);
  const listed = { recipients: [], networks: [HOSTILE.emoji], names: [], quiet: ['22:00-07:00 UTC'] };
  const channel = await addNotification.run(parts, { kind: 'slack', url, severity: 'warning', ...listed });
  await database.channelMessages.noteTest(channel.id, HOSTILE.rtl);
}

/** The blocks of logs that can be opened, as the JSON of a file. */
const LOGS = JSON.stringify(
  Array.from({ length: 1_000 }, (_, i) => [{ blockNumber: 1_000 + i, address: HASH, data: HOSTILE.html }]),
);

/** Puts a job into a queue on Postgres. */
export async function fillQueue(databaseUrl: string): Promise<void> {
  const queues = await createQueues({ databaseUrl, context });
  const payload = {
    network: 'main',
    firstBlock: 1_000,
    lastBlock: 1_999,
    kinds: ['logs'],
    owner: '<b>ada</b>',
  } as const;
  await queues.add('ingest', [{ id: 'window-1000', payload, priority: 5 }]);
  await queues.close();
}

/** Blocks 1,000 to 20,000 are requested: quarantined, paused and waiting ones; some are published below. */
async function fillMain(database: Database): Promise<void> {
  const main = database.network('main');
  await main.head.set({ number: HEAD, hash: HASH, finalized: HEAD - 64 });
  await main.backfills.add({ kinds: ['blocks', 'logs', 'receipts'], from: 1_000, to: null, priority: 1 });
  const { id } = await main.backfills.add({ kinds: ['logs'], from: 500, to: 999, priority: 1 });
  await database.backfills.change(id, { state: 'paused' });
  const upstreams = ['https://a.example', HOSTILE.html, HOSTILE.rtl];
  await main.quarantine.put({
    firstBlock: 15_500,
    lastBlock: 15_503,
    kinds: ['logs'],
    cause: 'PROOF_FAILED',
    message: HOSTILE.html,
    upstream: HOSTILE.html,
    payloadDigest: 'ab'.repeat(32),
    tried: upstreams.map((upstream, i) => ({
      upstream,
      cause: 'PROOF_FAILED',
      message: i === 2 ? HOSTILE.long : 'The root of the logs differs.',
      payloadDigest: `${i}a`.repeat(32),
    })),
  });
}

/** Puts all of them into the manifest; the first one of logs is in the folder of objects too. */
async function publishFiles(database: Database, objects: string): Promise<void> {
  const { bundles } = database.network('main');
  const signer = createSigner(readSigningKey(makeSigningKey(), 'test'), 'packhouse/test');
  await database.manifest.registerKey(signer.publicKey);
  const bytes = gzipSync(LOGS);
  await mkdir(objects, { recursive: true });
  await writeFile(path.join(objects, 'logs-1000'), bytes);
  for (const kind of ['blocks', 'logs'] as const) {
    for (let firstBlock = 1_000; firstBlock < 15_000; firstBlock += 1_000) {
      const [lastBlock, byteLength, rawLength] = [firstBlock + 999, bytes.length, LOGS.length];
      await bundles.publish(
        {
          kind,
          firstBlock,
          lastBlock,
          objectKey: `${kind}-${firstBlock}`,
          byteLength,
          rawLength,
          sha256: createHash('sha256').update(bytes).digest('hex'),
          firstHash: HASH,
          firstParentHash: HASH,
          lastHash: HASH,
          proofs: [],
          formatVersion: 1,
          fragments: [{ firstBlock: firstBlock, lastBlock: lastBlock, byteLength, rawLength, crc32: 1 }],
        },
        { signer, clients: [] },
      );
    }
  }
}

const getParts = (database: Database): OperationParts => ({ context, database, actor: 'test' });
