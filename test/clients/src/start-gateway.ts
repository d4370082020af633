import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createDatabase } from '@packhouse/database';
import {
  callNode,
  createScope,
  freshDatabase,
  silentContext,
  startAnvil,
  temporaryDirectory,
} from '@packhouse/local';
import { startGateway as startProcess } from '@packhouse/rig';

/** A gateway process from the build, with a key to it. */
export interface Gateway {
  /** What a client library is given: `{base_url}<KEY>`. */
  getUrl(network: string): string;
  close(): Promise<void>;
}

/** Starts a gateway that serves the networks of a networks file. */
export async function startGateway(postgresUrl: string, networks: string): Promise<Gateway> {
  const scope = createScope();
  const database = await freshDatabase(postgresUrl, { migrated: true });
  scope.defer(() => database.drop());
  const directory = await temporaryDirectory(scope, 'clients');
  const networksFile = path.join(directory, 'networks.yaml');
  await writeFile(networksFile, networks);
  const key = await makeKey(database.url);
  const env = { DATABASE_URL: database.url, NETWORKS_FILE: networksFile, OBJECT_STORE: directory };
  const { url } = await startProcess(env, scope);
  return { getUrl: (network) => `${url}/${network}/v1/${key}`, close: () => scope.close() };
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
    node: (method, params) => callNode(anvil.url, method, params),
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
