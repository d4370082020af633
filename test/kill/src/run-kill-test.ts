import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort, removePostgres, startPostgres } from '@packhouse/local';
import { createReplayNode, type ServedChain } from '@packhouse/replay-node';
import { checkPublished } from './check-published.js';
import { createFetchLedger, type RuleTrial } from './fetch-ledger.js';
import { createGatewayClient } from './gateway-client.js';
import { createKillSession, type MadeKill } from './kill-session.js';
import { expectedRecord, makeChain } from './make-chain.js';
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

/**
 * Runs `packhouse local` on a replay node, kills random processes of it, lets it finish and checks everything.
 *
 * The report lists what must not be as `violations`; it throws only if the test itself cannot continue.
 */
export async function runKillTest(options: KillTestOptions): Promise<KillReport> {
  const { kills, seed, say = () => undefined } = options;
  const length = options.blocks ?? Math.max(400, kills * 60);
  const startedAt = Date.now();
  const chain = makeChain(length, seed);
  const ledger = createFetchLedger();
  const grown = chain.firstNumber + Math.floor(length * (1 - HELD_BACK)) - 1;
  let head = Math.min(grown, chain.firstNumber + BACKLOG);
  const node = await createReplayNode({
    blocks: chain,
    head,
    finalized: { depth: DEPTH },
    bytesPerSecond: BYTES_PER_SECOND,
    observe({ method, params, block }) {
      // Only with its transactions is a block fetched; otherwise it is looked at.
      if (method === 'eth_getBlockByNumber' && params[1] === true && /^0x/.test(String(params[0])))
        ledger.note(block as number, Date.now());
    },
  });
  const grow = (to: number): void => {
    head = Math.min(grown, Math.max(head, to));
    node.setHead(head);
  };
  const growing = setInterval(() => grow(head + 1), BLOCK_MS);
  const directory = await mkdtemp(path.join(tmpdir(), 'packhouse-kill-'));
  // Ours, so it may be opened: root's Postgres runs under another account.
  await chmod(directory, 0o755);
  const networks = path.join(directory, 'networks-file.json');
  const network = {
    id: NETWORK,
    family: 'evm',
    chainId: 1,
    upstreams: [{ url: node.url }],
    pollIntervalMs: 250,
    bundles: { maxBlocks: MAX_BUNDLE_BLOCKS },
    // The chain repeats blocks with signatures varied, which are those of other senders.
    proofs: { senders: 'off' },
  };
  await writeFile(networks, JSON.stringify({ networks: [network] }));

  const client = createGatewayClient(chain, seed);
  const keys = new Set<string>();
  const range = ['--from', String(chain.firstNumber), '--to', String(chain.lastNumber)];
  const data = path.join(directory, 'data');
  await mkdir(data);
  const session = createKillSession({
    directory: data,
    args: [...range, '--data-dir', data, '--port', String(await freePort())],
    env: {
      NETWORKS_FILE: networks,
      INGEST_CONCURRENCY: String(JOBS_AT_A_TIME),
      ...(options.jobLockMs === undefined ? {} : { JOB_LOCK_MS: String(options.jobLockMs) }),
    },
    onAccess(access) {
      keys.add(access.apiKey);
      client.open(access);
    },
  });
  const violations: string[] = [];
  const made: MadeKill[] = [];
  const until = async (what: string, condition: () => boolean): Promise<void> => {
    for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await delay(POLL_MS))
      if (condition()) return;
    throw new Error(`${what}: not within ${PATIENCE_MS / 1_000} s; ${session.said().slice(-1_000)}`);
  };
  try {
    session.start();
    for (const [at, planned] of planKills(kills, seed).entries()) {
      await untilItsMoment(planned, at);
      made.push(await session.kill(planned));
      const { role, ageMs, command } = made.at(-1) as MadeKill;
      say(
        `kill ${at + 1}/${kills}: ${role}, ${(ageMs / 1_000).toFixed(1)} s old (${command}); ${ledger.blocks()} blocks fetched`,
      );
    }
    const killedAt = Date.now();
    clearInterval(growing);
    node.setFinalized({ depth: 0 });
    node.setHead(chain.lastNumber);
    say('all kills are made; waiting for the end of the range …');
    await until('the range to be published', () => session.published() >= length);
    const finishedAt = Date.now();
    await client.stop();
    say('following every link that was handed out …');
    const links = await client.followAll();
    const code = await session.stop();
    if (code !== 0) violations.push(`packhouse local ended with ${code} after Ctrl-C`);
    const left = [...session.survivors(), ...processesAround(data)];
    for (const one of left) violations.push(`process ${one.pid} is left over: ${one.command.slice(0, 120)}`);

    say('holding index and objects against the node …');
    const postgres = await startPostgres({ directory: path.join(data, 'postgres') });
    keys.add(new URL(postgres.url).password);
    try {
      const published = await checkPublished({
        databaseUrl: postgres.url,
        objects: path.join(data, 'objects'),
        chain,
        network: NETWORK,
      });
      violations.push(...published.violations);
      violations.push(...(await keysInLogs(data, [...keys], session.said())));
      violations.push(...session.violations, ...client.violations);
      return toReport({
        options: { kills, seed, blocks: length },
        made,
        ledger,
        trials: await readTrials(path.join(data, 'logs')),
        client,
        links,
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
      await postgres.stop();
    }
  } finally {
    clearInterval(growing);
    session.destroy();
    await client.stop();
    await node.close();
    await removePostgres(path.join(data, 'postgres'));
    await rm(directory, { recursive: true, force: true });
  }

  async function untilItsMoment({ moment, delayMs }: PlannedKill, at: number): Promise<void> {
    const share = Math.floor(((grown - chain.firstNumber) * at) / kills);
    grow(chain.firstNumber + share + BACKLOG);
    if (moment === 'working') {
      await until(`${share} blocks to be fetched`, () => ledger.blocks() >= share);
    }
    await delay(delayMs);
  }
}

/** Blocks of an ingest window on this chain, a power of two. */
function jobBlocks(chain: ServedChain): number {
  const numbers = [0, 5, 10, 15, 20].map((at) => chain.firstNumber + at);
  const raw = numbers.reduce((sum, number) => {
    const block = chain.block(number);
    return sum + (block === undefined ? 0 : expectedRecord(block, 'blocks').length);
  }, 0);
  return 2 ** Math.floor(Math.log2(JOB_RAW_BYTES / (raw / numbers.length)));
}

/** Keys and passwords in whatever was written for people to read. */
async function keysInLogs(data: string, keys: readonly string[], said: string): Promise<string[]> {
  const found: string[] = [];
  const look = (name: string, text: string): void => {
    if (keys.some((key) => key !== '' && text.includes(key)))
      found.push(`a key or password stands in ${name}`);
  };
  look('what packhouse local said', said);
  const logs = path.join(data, 'logs');
  for (const name of await readdir(logs)) look(name, await readFile(path.join(logs, name), 'utf8'));
  look('postgres.log', await readFile(path.join(data, 'postgres', 'postgres.log'), 'utf8').catch(() => ''));
  return found;
}

/** The blocks that leaders tried their rules on, as they logged them. */
async function readTrials(logs: string): Promise<RuleTrial[]> {
  const trials: RuleTrial[] = [];
  for (const name of await readdir(logs)) {
    for (const line of (await readFile(path.join(logs, name), 'utf8')).split('\n')) {
      const [, blocks] = /Verified sample blocks? ([\d and]+) of /.exec(line) ?? [];
      const [, time] = /"time":"([^"]+)"/.exec(line) ?? [];
      if (blocks !== undefined && time !== undefined)
        trials.push({ blocks: blocks.split(' and ').map(Number), at: Date.parse(time) });
    }
  }
  return trials;
}
