import { type ChildProcess, fork } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { createDatabase } from '@packhouse/database';
import { freshDatabase, startAnvil } from '@packhouse/local';
import { createLogger, createMetrics, systemClock } from '@packhouse/runtime';

/** A gateway process from the build, with a key to it. */
export interface Gateway {
  /** What a client library is given: `{base_url}<KEY>`. */
  urlOf(network: string): string;
  close(): Promise<void>;
}

/** Starts a gateway that serves the networks of a networks file. */
export async function startGateway(postgresUrl: string, networks: string): Promise<Gateway> {
  const database = await freshDatabase(postgresUrl, { migrated: true });
  const directory = await mkdtemp(path.join(tmpdir(), 'packhouse-clients-'));
  const networksFile = path.join(directory, 'networks.yaml');
  await writeFile(networksFile, networks);
  const key = await makeKey(database.url);
  const { port, stop } = await startProcess({
    DATABASE_URL: database.url,
    NETWORKS_FILE: networksFile,
    OBJECT_STORE: directory,
  });
  return {
    urlOf: (network) => `http://127.0.0.1:${port}/${network}/v1/${key}`,
    async close() {
      await stop();
      await database.drop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** A gateway on a real node. */
export interface ChainGateway {
  /** `{base_url}<KEY>` of the node's network. */
  url: string;
  /** The node itself, for what makes blocks. */
  node<T>(method: string, params?: readonly unknown[]): Promise<T>;
  close(): Promise<void>;
}

/** Starts Anvil, which mines when it is told to, and a gateway in front of it that may also send transactions. */
export async function startChainGateway(postgresUrl: string): Promise<ChainGateway> {
  const anvil = await startAnvil({ args: ['--no-mining'] });
  const gateway = await startGateway(
    postgresUrl,
    `networks:
  - id: chain
    family: evm
    chainId: 31337
    pollIntervalMs: 100
    bundles: {enabled: false}
    upstreams: [{url: '${anvil.url}'}]
    rpc: {allow: [eth_sendRawTransaction]}
`,
  );
  return {
    url: gateway.urlOf('chain'),
    node: <T>(method: string, params: readonly unknown[] = []) => ask<T>(anvil.url, method, params),
    async close() {
      await gateway.close();
      await anvil.stop();
    },
  };
}

async function makeKey(databaseUrl: string): Promise<string> {
  const context = {
    logger: createLogger({ name: 'test', level: 'silent' }),
    metrics: createMetrics(),
    clock: systemClock,
    signal: new AbortController().signal,
  };
  const database = createDatabase({ connectionString: databaseUrl, context, applicationName: 'test' });
  const made = await database.keys.create({
    application: 'test',
    network: null,
    plan: 'unlimited',
    expiresAt: null,
  });
  await database.close();
  return made.key;
}

async function startProcess(env: Record<string, string>): Promise<{ port: number; stop(): Promise<void> }> {
  const main = fileURLToPath(new URL('../../../apps/gateway/dist/main.js', import.meta.url));
  const child: ChildProcess = fork(main, {
    // Not the test runner's own: the build resolves to the build.
    execArgv: [],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: { PATH: process.env.PATH, HOST: '127.0.0.1', PORT: '0', ...env },
  });
  let log = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      log += text;
    });
  }
  const exit = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const port = await new Promise<number>((resolve, reject) => {
    child.on('message', (message: { type: string; port: number }) => {
      if (message.type === 'listening') resolve(message.port);
    });
    void exit.then(() => reject(new Error(`the gateway ended before it listened: ${log}`)));
  });
  return {
    port,
    async stop() {
      child.kill('SIGTERM');
      await exit;
    },
  };
}

async function ask<T>(url: string, method: string, params: readonly unknown[]): Promise<T> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const { result, error } = (await response.json()) as { result: T; error?: { message: string } };
  if (error !== undefined) throw new Error(`${method}: ${error.message}`);
  return result;
}
