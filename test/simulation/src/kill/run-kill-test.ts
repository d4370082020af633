import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createScope, freePort, startPostgres, temporaryDirectory } from '@packhouse/local';
import { createReplayNode, extendChain, generateChain, type ServedChain } from '@packhouse/replay-node';
import { canonicalText } from '../chain/canonical.js';
import { servedChain } from '../chain/fixed-chain.js';
import type { HonestChain } from '../chain/honest-chain.js';
import { noSecrets, type PublicText } from '../invariants/8-no-secrets.js';
import { createRandom } from '../random.js';
import { startDownloader } from '../watch/downloader.js';
import { checkPublished, followAll } from './check-published.js';
import { createFetchLedger, type RuleTrial } from './fetch-ledger.js';
import { createKillSession, type MadeKill } from './kill-session.js';
import { createOutages } from './outages.js';
import { type PlannedKill, planKills } from './plan-kills.js';
import { processesAround } from './processes.js';
import { type KillReport, toReport } from './report.js';

/** The options of a run. */
interface KillTestOptions {
  kills: number;
  seed: number;
  /** Blocks of the range; default: 60 a kill, 400 at least. */
  blocks?: number;
  /** How long jobs of a killed process stay untouched, in milliseconds; default: that of the programs. */
  jobLockMs?: number;
  /** Progress, for people. */
  say?: (line: string) => void;
}

const NETWORK = 'main';
/** The rest of the range exists only once all kills are made, so that it cannot be finished before. */
const HELD_BACK = 0.1;
/** Final blocks that the node has beyond the share of the range that is due: there is always something to fetch. */
const BACKLOG = 200;
/** The chain grows by a block this often, also where no kill comes. */
const BLOCK_MS = 700;
/** The node's line: slow enough that kills hit blocks on their way. */
const BYTES_PER_SECOND = 16_000_000;
/** How far the newest final block is behind the head. */
const DEPTH = 4;
const MAX_BUNDLE_BLOCKS = 48;
/** Ingest jobs that run at a time, and what one may hold: as the ingester and the planner have it. */
const JOBS_AT_A_TIME = 3;
const JOB_RAW_BYTES = 8_000_000;
/** How long a share of the range, or the end of it, may take to come. */
const PATIENCE_MS = 300_000;
const POLL_MS = 50;

/** Blocks that are generated; the others repeat them with hashes and transactions of their own. */
const GENERATED = 24;
const FIRST_BLOCK = 1_000;
/** How far above what is published the client asks too. */
const AHEAD = 40;
/** One of so many pointers is followed at once. */
const FOLLOW_EVERY = 8;

/**
 * Runs `packhouse local` on a replay node, kills random processes of it, lets it finish and checks everything.
 *
 * The report lists what must not be as `violations`; it throws only if the test itself cannot continue.
 */
export async function runKillTest(options: KillTestOptions): Promise<KillReport> {
  const { kills, seed, say = () => undefined } = options;
  const length = options.blocks ?? Math.max(400, kills * 60);
  const startedAt = Date.now();
  const blocks = makeChain(length, seed);
  const chain = servedChain(blocks);
  const ledger = createFetchLedger();
  const grown = chain.first + Math.floor(length * (1 - HELD_BACK)) - 1;
  let head = Math.min(grown, chain.first + BACKLOG);
  const scope = createScope();
  try {
    const node = await createReplayNode({
      blocks,
      head,
      finalized: { depth: DEPTH },
      bytesPerSecond: BYTES_PER_SECOND,
      observe({ method, params, block }) {
        // Only with its transactions is a block fetched; otherwise it is looked at.
        if (method === 'eth_getBlockByNumber' && params[1] === true && /^0x/.test(String(params[0])))
          ledger.note(block as number, Date.now());
      },
    });
    scope.defer(() => node.close());
    const grow = (to: number): void => {
      head = Math.min(grown, Math.max(head, to));
      node.setHead(head);
    };
    const growing = setInterval(() => grow(head + 1), BLOCK_MS);
    scope.defer(() => clearInterval(growing));
    const data = path.join(await temporaryDirectory(scope, 'kill'), 'data');
    await mkdir(data);
    const networks = path.join(data, '..', 'networks-file.json');
    await writeFile(networks, networksFile(node.url));
    const range = ['--from', String(chain.first), '--to', String(chain.head())];
    const session = createKillSession({
      directory: data,
      args: [...range, '--data-dir', data, '--port', String(await freePort())],
      env: {
        NETWORKS_FILE: networks,
        INGEST_CONCURRENCY: String(JOBS_AT_A_TIME),
        ...(options.jobLockMs === undefined ? {} : { JOB_LOCK_MS: String(options.jobLockMs) }),
      },
    });
    scope.defer(() => session.destroy());
    const outages = createOutages();
    const client = startDownloader({
      access: () => session.accesses().at(-1),
      chain,
      random: createRandom(seed),
      newest: () => Math.min(head, chain.first + session.published() + AHEAD),
      followEvery: FOLLOW_EVERY,
      told: outages.told,
    });
    scope.defer(() => client.stop());
    const until = async (what: string, condition: () => boolean): Promise<void> => {
      for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await delay(POLL_MS))
        if (condition()) return;
      throw new Error(`${what}: not within ${PATIENCE_MS / 1_000} s; ${session.said().slice(-1_000)}`);
    };
    const untilItsMoment = async ({ moment, delayMs }: PlannedKill, at: number): Promise<void> => {
      const share = Math.floor(((grown - chain.first) * at) / kills);
      grow(chain.first + share + BACKLOG);
      if (moment === 'working') await until(`${share} blocks to be fetched`, () => ledger.blocks() >= share);
      await delay(delayMs);
    };

    session.start();
    const made: MadeKill[] = [];
    for (const [at, planned] of planKills(kills, seed).entries()) {
      await untilItsMoment(planned, at);
      const kill = await session.kill(planned);
      made.push(kill);
      say(
        `kill ${at + 1}/${kills}: ${kill.role}, ${(kill.ageMs / 1_000).toFixed(1)} s old (${kill.command}); ${ledger.blocks()} blocks fetched`,
      );
    }
    const killedAt = Date.now();
    clearInterval(growing);
    node.setFinalized({ depth: 0 });
    node.setHead(chain.head());
    say('all kills are made; waiting for the end of the range …');
    await until('the range to be published', () => session.published() >= length);
    const finishedAt = Date.now();
    await client.stop();
    say('following every link that was handed out …');
    const keys = session.accesses().map(({ apiKey }) => apiKey);
    const violations = await followAll(client, chain, keys.at(-1) ?? '');
    const code = await session.stop();
    if (code !== 0) violations.push(`packhouse local ended with ${code} after Ctrl-C`);
    const left = [...session.survivors(), ...processesAround(data)];
    for (const one of left) violations.push(`process ${one.pid} is left over: ${one.command.slice(0, 120)}`);

    say('holding index and objects against the node …');
    const postgres = await startPostgres({ directory: path.join(data, 'postgres') });
    scope.defer(() => postgres.stop());
    const published = await checkPublished({ databaseUrl: postgres.url, data, chain, network: NETWORK });
    const logs = await readLogs(data);
    const texts = [{ name: 'what packhouse local said', text: session.said() }, ...logs];
    const secrets = {
      'the password of Postgres': new URL(postgres.url).password,
      ...Object.fromEntries(keys.map((key, at) => [`the API key of start ${at + 1}`, key])),
    };
    violations.push(...published.violations, ...noSecrets(texts, secrets).violations, ...session.violations);
    return toReport({
      options: { kills, seed, blocks: length },
      made,
      ledger,
      trials: logs.flatMap(readTrials),
      client,
      outages,
      published,
      starts: session.starts(),
      violations,
      job: { blocks: jobBlocks(chain), atATime: JOBS_AT_A_TIME },
      seconds: {
        whole: (Date.now() - startedAt) / 1_000,
        underKills: (killedAt - startedAt) / 1_000,
        toFinish: (finishedAt - killedAt) / 1_000,
      },
    });
  } finally {
    await scope.close();
  }
}

/** Blocks of some 300 KB of node answers, every proof of which holds. */
function makeChain(length: number, seed: number): ServedChain {
  const recording = generateChain({
    length: Math.min(length, GENERATED),
    startNumber: FIRST_BLOCK,
    seed,
    txsPerBlock: 24,
    logsPerTx: 2,
    tracesPerTx: 4,
  });
  return extendChain(recording, { length, varyTransactions: true });
}

function networksFile(url: string): string {
  const network = {
    id: NETWORK,
    family: 'evm',
    chainId: 1,
    upstreams: [{ url }],
    pollIntervalMs: 250,
    bundles: { maxBlocks: MAX_BUNDLE_BLOCKS },
    // The chain repeats blocks with signatures varied, which are those of other senders.
    proofs: { senders: 'off' },
  };
  return JSON.stringify({ networks: [network] });
}

/** Blocks of an ingest window on this chain, a power of two. */
function jobBlocks(chain: HonestChain): number {
  const numbers = [0, 5, 10, 15, 20].map((at) => chain.first + at);
  const raw = numbers.reduce((sum, number) => {
    const block = chain.block(number);
    return sum + (block === undefined ? 0 : canonicalText(block, 'blocks').length);
  }, 0);
  return 2 ** Math.floor(Math.log2(JOB_RAW_BYTES / (raw / numbers.length)));
}

/** Whatever was written for people to read. */
async function readLogs(data: string): Promise<PublicText[]> {
  const logs = path.join(data, 'logs');
  const files = (await readdir(logs)).map((name) => path.join(logs, name));
  return Promise.all(
    [...files, path.join(data, 'postgres', 'postgres.log')].map(async (file) => ({
      name: path.basename(file),
      text: await readFile(file, 'utf8').catch(() => ''),
    })),
  );
}

/** The blocks that leaders tried their rules on, as they logged them. */
function readTrials({ text }: PublicText): RuleTrial[] {
  return text.split('\n').flatMap((line) => {
    const [, blocks] = /Verified sample blocks? ([\d and]+) of /.exec(line) ?? [];
    const [, time] = /"time":"([^"]+)"/.exec(line) ?? [];
    if (blocks === undefined || time === undefined) return [];
    return [{ blocks: blocks.split(' and ').map(Number), at: Date.parse(time) }];
  });
}
