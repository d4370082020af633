import { hash, randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { Database, NodeReport } from '@packhouse/database';
import { runSql, silentContext } from '@packhouse/local';
import { createSigner, makeSigningKey, readSigningKey } from '@packhouse/manifest';
import { addOperator } from '@packhouse/operations';
import { addReceivers } from './add-receivers.js';
import { fillHistory, fillSchedules, fillSpending } from './fill-figures.js';

/** An installation as operators have it: what the pictures of the documents show. */
const HASH = `0x${'5c'.repeat(32)}`;
const ROOT = `0x8f2c${'a7'.repeat(28)}e141`;
const WRONG_ROOT = `0x03be${'5d'.repeat(28)}b09d`;
const DAY_MS = 86_400_000;
/** The content of the first file of logs of `ethereum`; the others are rows only. */
export const REAL_FILE = gzipSync('[[{"blockNumber":0,"topics":[]}]]');

interface Shown {
  id: string;
  chainId: number;
  head: number;
  /** The last published block of its kinds. */
  published: number;
  nodes: readonly { name: string; state?: NodeReport['state']; lag?: number; invalid?: number }[];
}

const NETWORKS: readonly Shown[] = [
  {
    id: 'ethereum',
    chainId: 1,
    head: 23_884_210,
    published: 23_700_000,
    nodes: [
      { name: 'eth-archive-1.internal' },
      { name: 'eth-archive-2.internal', state: 'distrusted', invalid: 3 },
      { name: 'mainnet.provider-a.example' },
    ],
  },
  {
    id: 'base',
    chainId: 8453,
    head: 38_120_400,
    published: 31_000_000,
    nodes: [{ name: 'base-1.internal', state: 'resting' }],
  },
  {
    id: 'arbitrum',
    chainId: 42_161,
    head: 402_551_000,
    published: 402_000_000,
    nodes: [{ name: 'arb-1.internal' }, { name: 'arb-2.internal', lag: 214 }],
  },
  {
    id: 'polygon',
    chainId: 137,
    head: 79_200_115,
    published: 79_000_000,
    nodes: [{ name: 'polygon-1.internal' }],
  },
  {
    id: 'optimism',
    chainId: 10,
    head: 143_700_090,
    published: 140_000_000,
    nodes: [{ name: 'op-1.internal' }, { name: 'op.provider-a.example' }],
  },
  {
    id: 'gnosis',
    chainId: 100,
    head: 43_100_002,
    published: 43_000_000,
    nodes: [{ name: 'gnosis-1.internal' }],
  },
];

/** What differs between the rows of its tables. */
export const NAMES: readonly string[] = [
  'provider-a',
  ...NETWORKS.flatMap(({ id, nodes }) => [id, ...nodes.map(({ name }) => name)]),
];

/** Writes it. Returns a function that has processes report again: they are gone after 15 seconds. */
export async function fillShowcase(database: Database, databaseUrl: string): Promise<() => Promise<void>> {
  const parts = { context: silentContext(), database, actor: 'ada' };
  await addOperator.run(parts, { name: 'ada', role: 'admin', password: 'correct horse battery' });
  const signer = createSigner(readSigningKey(makeSigningKey(), 'test'), 'packhouse/test');
  await database.manifest.registerKey(signer.publicKey);
  for (const network of NETWORKS) {
    await database.networks.register({ id: network.id, chainId: network.chainId });
    const { head, backfills } = database.network(network.id);
    await head.set({ number: network.head, hash: HASH, finalized: network.head - 64 });
    await backfills.add(
      { kinds: ['blocks', 'transactions', 'receipts', 'logs'], from: 0, to: null, priority: 100 },
      'ada',
    );
    await publish(database, network, signer);
  }
  await addTrouble(database);
  await addKeys(database);
  await addReceivers(parts, databaseUrl);
  await fillSpending(parts);
  await fillSchedules(database, databaseUrl);
  await fillHistory(database, NETWORKS);
  await runSql(
    databaseUrl,
    `UPDATE packhouse.backfill SET created_at = now() - interval '9 days';
     UPDATE packhouse.api_key SET created_at = now() - interval '40 days' + id * interval '3 days';
     UPDATE packhouse.key_usage SET last_at = now() - key_id * interval '7 minutes';
     UPDATE packhouse.quarantine SET first_seen = now() - interval '3 hours', attempts = 4;
     UPDATE packhouse.alarm SET raised_at = now() - interval '47 minutes'`,
  );
  const [ingester, packer, gateway] = [randomUUID(), randomUUID(), randomUUID()];
  const beat = async (): Promise<void> => {
    const common = { pid: 41, networksDigest: 'a', networksProblem: null, slots: 8 };
    const networks = NETWORKS.map(({ id }) => id);
    await database.workers.heartbeat({
      ...common,
      id: ingester,
      role: 'ingester',
      host: 'ingester-0',
      networks,
      jobs: [{ job: 'ethereum.17000000-17000999', seconds: 3 }],
    });
    await database.workers.heartbeat({
      ...common,
      id: packer,
      role: 'packer',
      host: 'packer-0',
      networks,
      jobs: [],
    });
    const rows = NETWORKS.flatMap(toReports);
    await database.nodes.report({ process: ingester, role: 'ingester', host: 'ingester-0' }, rows);
    await database.nodes.report({ process: gateway, role: 'gateway', host: 'gateway-0' }, rows);
  };
  await beat();
  return beat;
}

/** Published ranges; of ethereum with two holes. */
async function publish(
  database: Database,
  { id, published }: Shown,
  signer: ReturnType<typeof createSigner>,
): Promise<void> {
  const { bundles } = database.network(id);
  const step = Math.ceil(published / 24);
  for (const kind of ['blocks', 'transactions', 'receipts', 'logs'] as const) {
    for (let firstBlock = 0; firstBlock < published; firstBlock += step) {
      const at = firstBlock / step;
      if (id === 'ethereum' && kind === 'receipts' && at === 15) continue;
      if (id === 'ethereum' && at > 19 && kind === 'logs') continue;
      const lastBlock = Math.min(published, firstBlock + step) - 1;
      const isReal = id === 'ethereum' && kind === 'logs' && firstBlock === 0;
      const [byteLength, rawLength] = [isReal ? REAL_FILE.length : 940_000, 4_300_000];
      await bundles.publish(
        {
          kind,
          firstBlock,
          lastBlock,
          objectKey: `${id}/${kind}/${firstBlock}`,
          byteLength,
          rawLength,
          sha256: isReal ? hash('sha256', REAL_FILE, 'hex') : 'ab'.repeat(32),
          firstHash: HASH,
          firstParentHash: HASH,
          lastHash: HASH,
          proofs: [],
          formatVersion: 1,
          fragments: [{ firstBlock, lastBlock, byteLength, rawLength, crc32: 1 }],
        },
        { signer, clients: [] },
      );
    }
  }
}

/** What needs an operator: a block that a node lied about, paused and late backfills, a budget that is used up. */
async function addTrouble(database: Database): Promise<void> {
  const ethereum = database.network('ethereum');
  const tried = (upstream: string, digest: string | null, cause: string, message: string, got?: string) => ({
    upstream,
    cause,
    message,
    payloadDigest: digest,
    differs: got === undefined ? undefined : { field: 'receiptsRoot', expected: ROOT, got },
  });
  const root = 'receiptsRoot recomputed from 178 receipts is not that of the header.';
  await ethereum.quarantine.put({
    firstBlock: 17_000_123,
    lastBlock: 17_000_123,
    kinds: ['receipts', 'logs'],
    cause: 'PROOF_FAILED',
    message: root,
    upstream: 'eth-archive-2.internal',
    payloadDigest: '4b'.repeat(32),
    tried: [
      tried('eth-archive-2.internal', '4b'.repeat(32), 'PROOF_FAILED', root, WRONG_ROOT),
      tried('mainnet.provider-a.example', null, 'NODE_TIMEOUT', 'No response within 30,000 ms.'),
    ],
  });
  await ethereum.quarantine.put({
    firstBlock: 9_069_000,
    lastBlock: 9_069_063,
    kinds: ['traces'],
    cause: 'NODE_METHOD_MISSING',
    message: 'No upstream serves trace_block or debug_traceBlockByHash.',
    upstream: null,
    payloadDigest: null,
    tried: [],
  });
  const deadline = new Date(Date.now() + 3 * DAY_MS);
  await ethereum.backfills.add(
    { kinds: ['traces'], from: 9_000_000, to: 9_999_999, priority: 50, owner: 'risk', deadline },
    'ada',
  );
  const paused = await ethereum.backfills.add(
    {
      kinds: ['blocks', 'transactions', 'receipts', 'logs', 'traces'],
      from: 15_000_000,
      to: 15_499_999,
      priority: 120,
      owner: 'research',
    },
    'olga',
  );
  await database.backfills.change(paused.id, { state: 'paused' }, { actor: 'olga', action: 'pause' });
  const cancelled = await database
    .network('polygon')
    .backfills.add({ kinds: ['traces'], from: 0, to: 4_999_999, priority: 200, owner: 'research' }, 'olga');
  await database.backfills.change(cancelled.id, { state: 'cancelled' }, { actor: 'ada', action: 'cancel' });
  await database
    .network('optimism')
    .backfills.add(
      { kinds: ['traces'], from: 120_000_000, to: 121_000_000, priority: 80, windows: ['Sat,Sun'] },
      'ada',
    );
  await ethereum.alarms.raise({
    name: 'NODE_ANSWER_FALSE',
    message: 'eth-archive-2.internal sent receipts of block 17000123 that do not match its header.',
    data: {},
  });
}

async function addKeys(database: Database): Promise<void> {
  const today = Math.floor(Date.now() / DAY_MS);
  const names = ['wallet-app', 'indexer', 'tax-reports', 'risk-engine', 'mobile', 'dashboards', 'partner-x'];
  for (const [at, application] of names.entries()) {
    const plan = ['standard', 'free'][at % 2] as string;
    const { row } = await database.keys.create({ application, network: at === 3 ? 'base' : null, plan });
    if (at === 4) await database.keys.revoke(row.prefix);
    const counts = Array.from({ length: 30 }, (_, day) =>
      ['eth_getLogs', 'eth_call', 'download'].map((method, of) => {
        const requests = Math.round(4_000 * (1 + Math.sin((day + at * 3 + of) / 4)) * (3 - of) + 500);
        return {
          keyId: row.id,
          day: today - day,
          network: 'ethereum',
          method,
          requests,
          units: requests * (of === 0 ? 75 : 10),
          errors: Math.round(requests / 400),
          bytes: requests * 900,
        };
      }),
    ).flat();
    await database.usage.add(counts);
  }
}

/** What processes report of the nodes of a network. */
export function toReports({ id, head, nodes }: Pick<Shown, 'id' | 'head' | 'nodes'>) {
  return nodes.map(({ name, state = 'ok', lag = 0, invalid = 0 }) => {
    const silent = state === 'resting';
    const call = (method: string, calls: number, ms: number) => ({ method, calls, ms: silent ? null : ms });
    const report: NodeReport = {
      state,
      client: silent ? null : 'Geth/v1.16.2-stable/linux-amd64/go1.24',
      head: silent ? null : head - lag,
      inFlight: silent ? 0 : 6,
      maxInFlight: 32,
      invalidResponses: invalid,
      leftOut: null,
      throttledBy: null,
      methods: [
        call('eth_getBlockByNumber', 2_104, 41.2),
        call('eth_getBlockReceipts', 2_090, 88.6),
        call('eth_getLogs', 310, 152.4),
        call('debug_traceBlockByHash', 87, 402),
      ],
      errors: silent
        ? [{ meaning: 'unreachable', calls: 214 }]
        : invalid > 0
          ? [{ meaning: 'timeout', calls: 4 }]
          : [],
      lastError: silent ? 'connect ECONNREFUSED (base-1.internal)' : null,
      failingForMs: silent ? 47 * 60_000 : null,
      capabilities: ['receipts-by-block', 'traces'],
      missingCapabilities: id === 'gnosis' ? ['traces'] : [],
    };
    return { network: id, upstream: name, provider: name.endsWith('.example') ? 'provider-a' : name, report };
  });
}
