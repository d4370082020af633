import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createDatabase, type Database, migrate } from '@packhouse/database';
import { loadNetworks } from '@packhouse/networks';
import { createRates, describeTrial, openSigners } from '@packhouse/pipeline';
import { describeError } from '@packhouse/runtime';
import { commandContext } from '../installation/connect.js';
import { DATA_DIRECTORY, openDataDirectory } from '../installation/data-directory.js';
import { operatorName } from '../installation/operator.js';
import type { CliIo } from '../terminal/io.js';
import { addressesOf, introduce, rpcLines } from './announce.js';
import { capLogs } from './cap-logs.js';
import { endLeftovers } from './leftovers.js';
import { createWaiting, finishOnce } from './once.js';
import { openNode, pickNetwork } from './open-node.js';
import { openPostgres, stagingLimit } from './open-postgres.js';
import { checkLocalFlags, type LocalFlags, type LocalOptions } from './options.js';
import type { ReadyNetwork } from './preflight.js';
import { createReporter, type Reporter } from './report.js';
import { startConsole } from './start-console.js';
import { gatewayPort, startProcesses } from './start-processes.js';
import { createWatch, untilNextLook } from './watch.js';

/** The priority of the range of the command line: first. */
const PRIORITY = 1;

/**
 * `packhouse local`: everything on one machine. Parts are started in the order in which they need each other, and ended
 * in the reverse order.
 */
export async function local(io: CliIo, flags: LocalFlags): Promise<void> {
  const options = checkLocalFlags(flags);
  const closers: (() => Promise<unknown> | unknown)[] = [];
  const reporter = createReporter(io, options.json);
  try {
    await run(io, options, reporter, (close) => closers.push(close));
  } finally {
    reporter.end();
    if (closers.length > 0 && !options.once) reporter.say('Stopping …');
    for (let close = closers.pop(); close !== undefined; close = closers.pop()) {
      try {
        await close();
      } catch (error) {
        reporter.say(`Closing failed: ${describeError(error)}`);
      }
    }
  }
}

async function run(
  io: CliIo,
  options: LocalOptions,
  reporter: Reporter,
  onClose: (close: () => Promise<unknown> | unknown) => void,
): Promise<void> {
  const context = commandContext(io);
  const startedAt = context.clock.elapsed();
  const directory = openDataDirectory(path.resolve(io.cwd, options.dataDir ?? DATA_DIRECTORY), io.pid);
  onClose(() => directory.close());
  onClose(capLogs([directory.in('logs'), directory.in('postgres')]));

  await endLeftovers(context, directory, reporter.say);
  const port = await gatewayPort(options.port, reporter);

  const node = await openNode({ io, context, options, directory, reporter, onClose });
  if (node !== null) reportTrial(reporter, node);
  const postgres = await openPostgres({ io, context, directory, reporter, onClose });
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
    if (node !== null) await want(database, node, operatorName(io));
    await openSigners({ context, database, file: signingKeyFile });
    await watch.look();
    return localApiKey(database, directory.in('api-key'));
  });
  const embedded = (io.env.DATABASE_URL ?? '') === '';
  const staging = await stagingLimit({ env: io.env, directory: embedded ? directory.path : null });
  if (staging.line !== null) reporter.say(staging.line);
  const env = { DATABASE_URL: postgres.url, NETWORKS_FILE: networksFile, SIGNING_KEY_FILE: signingKeyFile };
  const processes = startProcesses({
    ...{ io, directory, port, reporter, onClose },
    env: { ...env, STAGING_MAX_BYTES: staging.value },
  });
  const failed = Promise.race([processes.failed, postgres.failed]);
  await Promise.race([processes.ready, failed, aborted(io.signal)]);
  if (io.signal.aborted) return;
  const addresses = addressesOf(processes.port(), network.id);
  const metrics = processes.metrics();
  reporter.event(
    { event: 'ready', ...addresses, apiKey, metrics },
    `Gateway: ${addresses.gateway}  data: ${directory.path}${metricsLine(metrics)}`,
  );
  for (const line of rpcLines(addresses.gateway, apiKey, networks)) reporter.say(line);
  // What ends by itself is not watched in a browser.
  if (!options.once) {
    const PUBLIC_URL = io.env.PUBLIC_URL || addresses.gateway;
    startConsole({ io, context, database, directory, env: { ...env, PUBLIC_URL }, reporter, onClose });
  }

  const rates = createRates();
  const waiting = createWaiting(reporter, () => context.clock.elapsed());
  let introduced = false;
  await Promise.race([failed, follow()]);

  /** Looks until the end; an error, for example while Postgres is away, is reported. */
  async function follow(): Promise<void> {
    while (!io.signal.aborted) {
      try {
        if (await tick()) return;
      } catch (error) {
        reporter.problem('database', describeError(error));
      }
      await untilNextLook(io, context.clock);
    }
  }

  /** One look; true if the range of --once is done. */
  async function tick(): Promise<boolean> {
    const look = await watch.look();
    rates.add(look.status, context.clock.elapsed());
    reporter.look(look, rates);
    if (!introduced) introduced = await introduce(database, look.status, reporter, { addresses, apiKey });
    if (!options.once || node === null) return false;
    // Bundles published since this look are reported before the end.
    const lastLook = async (): Promise<void> => reporter.look(await watch.look(), rates);
    waiting(look.status, node.to as number);
    return finishOnce({ io, database, node, reporter, startedAt, lastLook });
  }
}

/**
 * Orders the range of the command line unless it is ordered already, and has its quarantined blocks tried again now:
 * the operator may have fixed the reason before this start.
 */
/** Says what of the network can be proved, before hours of fetching. */
function reportTrial(reporter: Reporter, { network, trial }: ReadyNetwork): void {
  const failed = trial.failed.map(({ number, error }) => ({ number, message: error.message }));
  const event = { event: 'trial', network: network.id, ...trial, failed };
  reporter.event(event, describeTrial(network.id, trial).join('\n'));
}

async function want(database: Database, node: ReadyNetwork, who: string): Promise<void> {
  const handle = database.network(node.network.id);
  const same = (await handle.wanted.list()).find(
    (row) =>
      row.start === node.from &&
      row.end === node.to &&
      row.kinds.join() === node.kinds.join() &&
      row.priority === PRIORITY,
  );
  if (same === undefined) {
    const range = { kinds: node.kinds, start: node.from, end: node.to, priority: PRIORITY };
    await handle.wanted.add(range, who);
  } else if (same.state !== 'active') {
    await database.wanted.change(same.id, { state: 'active' }, { who, action: 'resume' });
  }
  await handle.quarantine.retry({ start: node.from, end: node.to ?? Number.MAX_SAFE_INTEGER });
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

function metricsLine(metrics: Record<string, string>): string {
  const addresses = Object.values(metrics);
  return addresses.length === 0 ? '' : `\nMetrics: ${addresses.join('  ')}`;
}
