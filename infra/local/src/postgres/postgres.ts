import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile, realpath, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describeError, isPackhouseError, type Logger } from '@packhouse/runtime';
import pg from 'pg';
import { endWithOwner } from '../process/end-with-owner.js';
import { freePort } from '../process/free-port.js';
import { installedPostgres, type PostgresBinaries, preparePostgresBinaries } from './binaries.js';
import { CHILD_ENV, initialise, PASSWORD_FILE } from './data.js';
import { postgresFailure } from './failure.js';
import { type Account, postgresAccount, postgresHome } from './home.js';
import { clearLeftover, FAST_SHUTDOWN_MS } from './leftover.js';

const READY_POLL_MS = 30;
const CONNECT_MS = 5_000;
/** How long a server may leave connections unanswered, unless it says that it is recovering. */
const SILENT_MS = 60_000;

/** For one machine that ingests: bodies are compressed already, and a crash must not lose acknowledged data. */
const SETTINGS: Readonly<Record<string, string>> = {
  shared_buffers: '256MB',
  max_connections: '100',
  max_wal_size: '4GB',
  wal_compression: 'off',
  // No replicas: COPY into a partition that was made in the same transaction then skips the WAL.
  wal_level: 'minimal',
  max_wal_senders: '0',
  synchronous_commit: 'on',
  jit: 'off',
  max_locks_per_transaction: '256',
  logging_collector: 'off',
  log_min_messages: 'warning',
  // The caller of a failing statement gets the error; the log would only repeat its parameters.
  log_min_error_statement: 'panic',
};

/** A running Postgres. */
export interface LocalPostgres {
  /** Superuser's address of the database `postgres`, password included. */
  url: string;
  pid: number;
  /** Resolves when the server has ended for any reason. */
  ended: Promise<void>;
  /** Ends it: fast shutdown, without a checkpoint if that takes longer than 10 s. May be called twice. */
  stop(): Promise<void>;
}

interface StartPostgresOptions {
  /** For data and log, or for a file `LOCATION` that says where they are (see postgresHome). Made if absent. */
  directory: string;
  /** Default: a free one. */
  port?: number | undefined;
  logger?: Logger;
  /** Folder of the programs initdb and postgres; default: those of the embedded Postgres. */
  programs?: string | undefined;
  /** Settings of postgresql.conf over the default ones. */
  settings?: Readonly<Record<string, string>>;
}

/**
 * Starts a real Postgres server on 127.0.0.1 and resolves when it answers.
 *
 * Works with or without root, with or without npm's install scripts, and after any earlier run was killed.
 * Throws DATA_DIR_NEWER, DATA_DIR_BUSY, DATA_DIR_UNUSABLE, DISK_FULL, PORT_IN_USE or CHILD_FAILED.
 */
export async function startPostgres(options: StartPostgresOptions): Promise<LocalPostgres> {
  try {
    return await start(options);
  } catch (error) {
    throw isPackhouseError(error) ? error : postgresFailure(describeError(error), options.directory, error);
  }
}

async function start(options: StartPostgresOptions): Promise<LocalPostgres> {
  const { logger } = options;
  const account = await postgresAccount();
  const home = await postgresHome({ directory: options.directory, account, logger });
  const binaries =
    options.programs === undefined
      ? await preparePostgresBinaries({ native: installedPostgres(), account, copyTo: home.copies })
      : { initdb: path.join(options.programs, 'initdb'), postgres: path.join(options.programs, 'postgres') };
  const dataFolder = await initialise({ home: home.folder, binaries, account });
  await clearLeftover(dataFolder, logger);
  const password = (await readFile(path.join(dataFolder, PASSWORD_FILE), 'utf8')).trim();

  for (let attempt = 1; ; attempt += 1) {
    const port = options.port ?? (await freePort());
    const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
    const server = await launch({ home: home.folder, dataFolder, binaries, account, port, options });
    try {
      const ended = new Promise<void>((resolve) => server.child.once('exit', () => resolve()));
      await ready(server, url, home.folder);
      return { url, pid: server.child.pid as number, ended, stop: () => stop(server.child) };
    } catch (error) {
      await stop(server.child);
      // Another program took the free port in between.
      if (isPackhouseError(error, 'PORT_IN_USE') && options.port === undefined && attempt < 5) continue;
      throw error;
    }
  }
}

interface Server {
  child: ChildProcess;
  /** Its log since it was launched. */
  output(): Promise<string>;
}

async function launch(parts: {
  home: string;
  dataFolder: string;
  binaries: PostgresBinaries;
  account: Account | null;
  port: number;
  options: StartPostgresOptions;
}): Promise<Server> {
  const { account, dataFolder } = parts;
  const settings = {
    ...SETTINGS,
    listen_addresses: '127.0.0.1',
    port: String(parts.port),
    // None: the path of a socket may have 107 bytes, and that of a data folder is often longer.
    unix_socket_directories: '',
    ...parts.options.settings,
  };
  const logFile = path.join(parts.home, 'postgres.log');
  const log = await open(logFile, 'a', 0o600);
  try {
    const { size } = await log.stat();
    const folder = await realpath(dataFolder);
    await writeFile(path.join(dataFolder, 'packhouse-owner'), `${process.pid}\n`);
    const child = spawn(
      parts.binaries.postgres,
      ['-D', folder, ...Object.entries(settings).flatMap(([k, v]) => ['-c', `${k}=${v}`])],
      {
        cwd: dataFolder,
        // Ctrl-C in a terminal must not reach Postgres: it must outlive its writers.
        detached: true,
        stdio: ['ignore', log.fd, log.fd],
        env: CHILD_ENV,
        uid: account?.uid,
        gid: account?.gid,
      },
    );
    const failed = new Promise<Error>((resolve) => child.once('error', resolve));
    if (child.pid === undefined) throw await failed;
    child.once('exit', endWithOwner({ pid: child.pid, dataFolder: folder }));
    return { child, output: async () => (await readFile(logFile)).subarray(size).toString() };
  } finally {
    await log.close();
  }
}

async function ready(server: Server, url: string, home: string): Promise<void> {
  const { child } = server;
  const exited = once(child, 'exit');
  let silentSince = performance.now();
  while (child.exitCode === null && child.signalCode === null) {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_MS });
    client.on('error', () => {});
    try {
      // Another server may hold the port in silence, until ours notices that and ends.
      const connected = client.connect().then(() => true);
      if (await Promise.race([connected, exited.then(() => false)])) return;
      connected.catch(() => {});
      break;
    } catch (error) {
      // 57P03: it is up and busy with recovery.
      if ((error as { code?: string }).code === '57P03') silentSince = performance.now();
      if (performance.now() - silentSince > SILENT_MS)
        throw postgresFailure(await server.output(), home, error);
      await delay(READY_POLL_MS);
    } finally {
      client.end().catch(() => {});
    }
  }
  throw postgresFailure(await server.output(), home);
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  const harder = setTimeout(() => child.kill('SIGQUIT'), FAST_SHUTDOWN_MS);
  child.kill('SIGINT');
  await exited;
  clearTimeout(harder);
}
