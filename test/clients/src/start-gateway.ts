import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createDatabase } from '@packhouse/database';
import { freshDatabase, silentContext, startAnvil, startProgram } from '@packhouse/local';

/** A gateway process from the build, with a key to it. */
export interface Gateway {
  /** What a client library is given: `{base_url}<KEY>`. */
  getUrl(network: string): string;
  close(): Promise<void>;
}

/** Starts a gateway that serves the networks of a networks file. */
export async function startGateway(postgresUrl: string, networks: string): Promise<Gateway> {
  const database = await freshDatabase(postgresUrl, { migrated: true });
  const directory = await mkdtemp(path.join(tmpdir(), 'packhouse-clients-'));
  const networksFile = path.join(directory, 'networks.yaml');
  await writeFile(networksFile, networks);
  const key = await makeKey(database.url);
  const gateway = startProgram('apps/gateway/dist/main.js', [], {
    messages: true,
    env: {
      PATH: process.env.PATH,
      HOST: '127.0.0.1',
      PORT: '0',
      DATABASE_URL: database.url,
      NETWORKS_FILE: networksFile,
      OBJECT_STORE: directory,
    },
  });
  const { port } = await gateway.message('listening');
  return {
    getUrl: (network) => `http://127.0.0.1:${port}/${network}/v1/${key}`,
    async close() {
      await gateway.stop();
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
    url: gateway.getUrl('chain'),
    node: <T>(method: string, params: readonly unknown[] = []) => ask<T>(anvil.url, method, params),
    async close() {
      await gateway.close();
      await anvil.stop();
    },
  };
}

async function makeKey(databaseUrl: string): Promise<string> {
  const context = silentContext();
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
