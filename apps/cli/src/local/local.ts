import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createDatabase, type Database, migrate } from '@packhouse/database';
import { loadNetworks } from '@packhouse/networks';
import { describeTrial, openSigners } from '@packhouse/pipeline';
import { createRates } from '@packhouse/report';
import { describeError } from '@packhouse/runtime';
import { commandContext, namesDatabase } from '../installation/context.js';
import { DATA_DIRECTORY, openDataDirectory } from '../installation/data-directory.js';
import { operatorName } from '../installation/operator.js';
import type { CliIo } from '../terminal/io.js';
import { fileLines, getAddresses, startLines } from './announce.js';
import { capLogs } from './cap-logs.js';
import { endLeftovers } from './leftovers.js';
import type { LocalRun } from './local-run.js';
import { createWaiting, finishOnce } from './once.js';
import { openNode, pickNetwork } from './open-node.js';
import { openPostgres, stagingLimit } from './open-postgres.js';
import { checkLocalFlags, type LocalFlags, type LocalOptions } from './options.js';
import type { ReadyNetwork } from './preflight.js';
import { createReporter, type Reporter } from './report.js';
import { startConsole } from './start-console.js';
import { gatewayPort, startProcesses } from './start-processes.js';
import { createWatch, untilNextPoll } from './watch.js';

/** The priority of the range of the command line: first. */
const PRIORITY = 1;

/**
 * `packhouse local`: everything on one machine. Parts are started in the order in which they need each other, and ended
 * in the reverse order.
 */
export async function local(io: CliIo, flags: LocalFlags): Promise<void> {
  const options = checkLocalFlags(flags, io.env.NETWORKS_FILE);
  const closers: (() => Promise<unknown> | unknown)[] = [];
  const reporter = createReporter(io, options);
  try {
    await run(io, options, reporter, (close) => closers.push(close));
  } finally {
    const isStopped = io.signal.aborted && closers.length > 0;
    if (isStopped) reporter.step('Stopping …');
    for (let close = closers.pop(); close !== undefined; close = closers.pop()) {
      try {
        await close();
      } catch (error) {
        reporter.say(`Warning: ${describeError(error)}`);
      }
    }
    reporter.end();
    if (isStopped) reporter.say('Stopped. The next start continues from here.');
  }
}

async function run(
  io: CliIo,
  options: LocalOptions,
  reporter: Reporter,
  onClose: LocalRun['onClose'],
): Promise<void> {
  const context = commandContext(io);
  const startedAt = context.clock.elapsed();
  const directory = openDataDirectory(path.resolve(io.cwd, options.dataDir ?? DATA_DIRECTORY), io.pid);
  onClose(() => directory.close());
  reporter.openLog(directory.in('logs', 'local.log'));
  onClose(capLogs([directory.in('logs'), directory.in('postgres')]));

  await endLeftovers(context, directory, reporter.step);
  const port = await gatewayPort(options.port, reporter);

  const parts = { io, context, options, directory, reporter, onClose };
  const node = await openNode(parts);
  if (node !== null) reportTrial(reporter, node);
  const postgres = await openPostgres(parts);
  await postgres.steadily(() => migrate({ connectionString: postgres.url, logger: context.logger }));
  const database = createDatabase({
    connectionString: postgres.url,
    context,
    poolSize: 3,
    applicationName: 'packhouse local',
  });
  onClose(() => database.close());

  const file = node?.file ?? null;
  const networksFile = file === null ? (io.env.NETWORKS_FILE as string) : directory.in('networks.json');
  if (file !== null) await writeFile(networksFile, file, { mode: 0o600 });
  const networks = await loadNetworks(networksFile, io.env);
  const network = pickNetwork(networks, node?.network.id ?? options.network);
  const signingKeyFile = io.env.SIGNING_KEY_FILE || directory.in('signing-key.pem');
  const watch = createWatch(database, network.id);
  const apiKey = await postgres.steadily(async () => {
    for (const each of networks) await database.networks.register({ id: each.id, chainId: each.chainId });
    if (node !== null) await requestRange(database, node, operatorName(io));
    await openSigners({ context, database, file: signingKeyFile });
    await watch.poll();
    return localApiKey(database, directory.in('api-key'));
  });
  const embedded = !namesDatabase(io);
  const staging = await stagingLimit({ env: io.env, directory: embedded ? directory.path : null });
  if (staging.line !== null) reporter.log(staging.line);
  reporter.step('Starting gateway, ingester and packer …');
  const env = { DATABASE_URL: postgres.url, NETWORKS_FILE: networksFile, SIGNING_KEY_FILE: signingKeyFile };
  const processes = startProcesses(parts, port, { ...env, STAGING_MAX_BYTES: staging.value });
  const failed = Promise.race([processes.failed, postgres.failed]);
  await Promise.race([processes.ready, failed, aborted(io.signal)]);
  if (io.signal.aborted) return;
  const addresses = getAddresses(processes.port(), network.id);
  const { gateway } = addresses;
  reporter.event({ event: 'ready', ...addresses, apiKey, metrics: processes.metrics() });
  let consoleLink: Promise<string | null> = Promise.resolve(null);
  // What ends by itself is not watched in a browser.
  if (!options.once) {
    reporter.step('Starting the console …');
    const PUBLIC_URL = io.env.PUBLIC_URL || gateway;
    consoleLink = startConsole(parts, database, { ...env, PUBLIC_URL });
  }
  const screen = consoleLink.then((link) => {
    const isDemo = options.rpc.length === 0 && !io.env.NETWORKS_FILE;
    const logs = directory.in('logs');
    const portInUse = processes.port() === options.port ? null : options.port;
    const screen = { gateway, portInUse, consoleLink: link, apiKey, logs, cwd: io.cwd, isDemo, networks };
    const lines = startLines(screen);
    if (!io.signal.aborted) for (const line of lines) reporter.say(line);
  });

  await Promise.race([
    failed,
    follow({ parts, startedAt, database, node, watch, screen, addresses, apiKey }),
  ]);
}

/** What is followed once the processes run. */
interface Followed {
  parts: LocalRun;
  /** By the clock of `elapsed`. */
  startedAt: number;
  database: Database;
  /** Null: the networks are those of a file. */
  node: ReadyNetwork | null;
  watch: ReturnType<typeof createWatch>;
  /** Resolves when the first screen is printed. */
  screen: Promise<void>;
  addresses: ReturnType<typeof getAddresses>;
  apiKey: string;
}

/** Polls until the end; an error, for example while Postgres is away, is reported. */
async function follow({ parts, ...followed }: Followed): Promise<void> {
  const { io, context, options, reporter } = parts;
  const { addresses, apiKey, database, node, watch } = followed;
  const rates = createRates();
  const waiting = createWaiting(reporter, () => context.clock.elapsed());
  let hasFileLines = options.json;
  // Programs have the events; people see the progress below the first screen.
  if (!options.json) await Promise.race([followed.screen, aborted(io.signal)]);
  while (!io.signal.aborted) {
    try {
      if (await tick()) return;
    } catch (error) {
      reporter.problem('database', describeError(error));
    }
    await untilNextPoll(io, context.clock);
  }

  /** One poll; true if the range of --once is done. */
  async function tick(): Promise<boolean> {
    const poll = await watch.poll();
    rates.add(poll.status, context.clock.elapsed());
    if (!hasFileLines) {
      const lines = await fileLines(database, poll.status, { addresses, apiKey });
      for (const line of lines ?? []) reporter.say(line);
      hasFileLines = lines !== null;
    }
    reporter.progress(poll, rates);
    if (!options.once || node === null) return false;
    // Bundles published since this poll are reported before the end.
    const lastPoll = async (): Promise<void> => reporter.progress(await watch.poll(), rates);
    waiting(poll.status, node.to as number);
    return finishOnce(parts, database, node, { startedAt: followed.startedAt, lastPoll });
  }
}

/** Reports what of the network can be proved, before hours of fetching; people see what cannot. */
function reportTrial(reporter: Reporter, { network, trial }: ReadyNetwork): void {
  const failed = trial.failed.map(({ number, error }) => ({ number, message: error.message }));
  reporter.event({ event: 'trial', network: network.id, ...trial, failed });
  const { verified, problems } = describeTrial(network.id, trial);
  if (verified !== null) reporter.log(verified);
  for (const problem of problems) reporter.say(`Warning: ${problem}`);
}

/**
 * Requests the range of the command line unless it is requested already, and has its quarantined blocks tried again now:
 * the operator may have fixed the reason before this start.
 */
async function requestRange(database: Database, node: ReadyNetwork, actor: string): Promise<void> {
  const handle = database.network(node.network.id);
  const same = (await handle.backfills.list()).find(
    (row) =>
      row.from === node.from &&
      row.to === node.to &&
      row.kinds.join() === node.kinds.join() &&
      row.priority === PRIORITY,
  );
  if (same === undefined) {
    const range = { kinds: node.kinds, from: node.from, to: node.to, priority: PRIORITY };
    await handle.backfills.add(range, actor);
  } else if (same.state !== 'active') {
    await database.backfills.change(same.id, { state: 'active' }, { actor, action: 'resume' });
  }
  await handle.quarantine.retry({ firstBlock: node.from, lastBlock: node.to ?? Number.MAX_SAFE_INTEGER });
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

/**
 * The API key that `packhouse local` prints: that of the last start if it is still valid, else a new one. It is kept in
 * the data folder, readable by its owner only, so that the next start prints the same lines.
 */
async function localApiKey(database: Database, file: string): Promise<string> {
  const kept = await readFile(file, 'utf8').then(
    (text) => text.trim(),
    () => null,
  );
  if (kept !== null) {
    const row = await database.keys.find(createHash('sha256').update(kept).digest());
    if (row !== null && row.revokedAt === null) return kept;
  }
  const { key } = await database.keys.create({ application: 'local', network: null, plan: 'unlimited' });
  await writeFile(file, `${key}\n`, { mode: 0o600 });
  return key;
}
