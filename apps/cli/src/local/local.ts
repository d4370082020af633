import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createDatabase, type Database, migrate } from '@packhouse/database';
import { loadNetworks } from '@packhouse/networks';
import { openSigners } from '@packhouse/pipeline';
import { describeError, PackhouseError } from '@packhouse/runtime';
import { commandContext } from '../connect.js';
import { type CliIo, print } from '../io.js';
import { createRates } from '../rates.js';
import { addressesOf, curlLines, rpcLines } from './announce.js';
import { localApiKey } from './api-key.js';
import { capLogs } from './cap-logs.js';
import { DATA_DIRECTORY, openDataDirectory } from './data-directory.js';
import { finishOnce } from './finish-once.js';
import { endLeftovers } from './leftovers.js';
import { openNode, pickNetwork } from './open-node.js';
import { openPostgres } from './open-postgres.js';
import { checkLocalFlags, type LocalFlags, type LocalOptions } from './options.js';
import type { ReadyNetwork } from './preflight.js';
import { createReporter, type Reporter } from './report.js';
import { stagingLimit } from './staging-limit.js';
import { gatewayPort, startProcesses } from './start-processes.js';
import { createWaiting } from './waiting.js';
import { createWatch, type Look } from './watch.js';

/** How often the state is looked at, in milliseconds. */
const LOOK_EVERY_MS = 1_000;
/** The priority of what the command line asks for: first. */
const PRIORITY = 1;

/**
 * `packhouse local`: everything on one machine. Parts are started in the order they need one another and ended in
 * the reverse order, however it ends.
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
  const startedAt = context.clock.now();
  const directory = openDataDirectory(path.resolve(io.cwd, options.dataDir ?? DATA_DIRECTORY), io.pid);
  onClose(() => directory.close());
  onClose(capLogs([directory.in('logs'), directory.in('postgres')]));

  await endLeftovers(context, directory, reporter.say);
  const port = await gatewayPort(options.port, reporter);

  const node = await openNode({ io, context, options, directory, reporter, onClose });
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
    if (node !== null) await want(database, node);
    await openSigners({ context, database, file: signingKeyFile });
    await watch.look();
    return localApiKey(database, directory.in('api-key'));
  });
  const embedded = (io.env.DATABASE_URL ?? '') === '';
  const staging = await stagingLimit({ env: io.env, directory: embedded ? directory.path : null });
  if (staging.line !== null) reporter.say(staging.line);
  const processes = startProcesses({
    io,
    directory,
    port,
    env: {
      DATABASE_URL: postgres.url,
      NETWORKS_FILE: networksFile,
      STAGING_MAX_BYTES: staging.value,
      SIGNING_KEY_FILE: signingKeyFile,
    },
    reporter,
    onClose,
  });
  const failed = Promise.race([processes.failed, postgres.failed]);
  await Promise.race([processes.ready, failed, aborted(io.signal)]);
  if (io.signal.aborted) return;
  const addresses = addressesOf(processes.port(), network.id);
  const metrics = processes.metrics();
  reporter.event(
    { event: 'ready', ...addresses, apiKey, metrics },
    `Gateway: ${addresses.gateway}  data: ${directory.path}\nMetrics: ${Object.values(metrics).join('  ')}`,
  );
  for (const line of rpcLines(addresses.gateway, apiKey, networks)) reporter.say(line);

  const rates = createRates();
  const waiting = createWaiting(reporter, Date.now);
  let introduced = false;
  await Promise.race([failed, follow()]);

  /** Looks again and again; Postgres may be gone for a while, which is said. */
  async function follow(): Promise<void> {
    while (!io.signal.aborted) {
      try {
        if (await tick()) return;
      } catch (error) {
        reporter.problem('database', describeError(error));
      }
      await context.clock.sleep(LOOK_EVERY_MS, io.signal).catch(() => undefined);
    }
  }

  /** One look; true when the range of --once is done. */
  async function tick(): Promise<boolean> {
    const look = await watch.look();
    rates.add(look.status, context.clock.now());
    reporter.look(look, rates);
    if (!introduced) introduced = await introduce(database, look, reporter, { addresses, apiKey });
    if (!options.once || node === null) return false;
    // What was published since this look is reported before the end is.
    const lastLook = async (): Promise<void> => reporter.look(await watch.look(), rates);
    waiting(look.status, node.to as number);
    return finishOnce({ io, database, node, reporter, startedAt, lastLook });
  }
}

/**
 * Makes sure that what the command line asks for is wanted, once, and that blocks which could not be had before are
 * asked for again now: whoever starts again has done something about it.
 */
async function want(database: Database, node: ReadyNetwork): Promise<void> {
  const id = node.network.id;
  const same = (await database.network(id).wanted.list()).find(
    (row) =>
      row.start === node.from &&
      row.end === node.to &&
      row.kinds.join() === node.kinds.join() &&
      row.priority === PRIORITY,
  );
  if (same === undefined) {
    await database.network(id).wanted.add({
      kinds: node.kinds,
      start: node.from,
      end: node.to,
      priority: PRIORITY,
    });
  } else if (same.state !== 'active') {
    await database.wanted.setState(same.id, 'active');
  }
  await database.network(id).quarantine.retry({ start: node.from, end: node.to ?? Number.MAX_SAFE_INTEGER });
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

/** Prints the key and the lines to paste when the first bundles are out. True once that is done. */
async function introduce(
  database: Database,
  { status }: Look,
  reporter: Reporter,
  access: { addresses: ReturnType<typeof addressesOf>; apiKey: string },
): Promise<boolean> {
  const kind = status.kinds[0];
  if (kind === undefined || kind.bundles === 0) return false;
  const [bundle] = await database.network(status.network).bundles.list(kind.kind, 0, 1);
  if (bundle === undefined) return false;
  const { published } = await database.network(status.network).coverage(kind.kind);
  const newest = await database.network(status.network).staging.newest();
  const packedUpTo = published.at(-1)?.end ?? -1;
  const newBlock = newest !== null && newest.number > packedUpTo ? newest.number : null;
  for (const line of curlLines({ ...access, kind: kind.kind, published: bundle, newBlock }))
    reporter.say(line);
  return true;
}

/** Prints one line for an error, in the form the flags ask for. */
export function printFailure(io: CliIo, json: boolean, error: unknown): void {
  const code = error instanceof PackhouseError ? error.code : 'INTERNAL';
  if (json) print(io, { event: 'error', code, message: describeError(error) });
}
