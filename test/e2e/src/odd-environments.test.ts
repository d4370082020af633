import { execFile } from 'node:child_process';
import { chmod, chown, mkdir, readdir, readFile, stat } from 'node:fs/promises';
import {
  type AddressInfo,
  connect,
  createServer as createTcpServer,
  type Server,
  type Socket,
} from 'node:net';
import path from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { promisify } from 'node:util';
import { migrate } from '@packhouse/database';
import { type Program, startProgram } from '@packhouse/local';
import { createReplayNode, generateChain, type ReplayNode } from '@packhouse/replay-node';
import { startService } from '@packhouse/rig';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { writeNetworksFile } from './networks-file.js';
import { openDatabase } from './open-database.js';
import { isOnPath, root } from './pasted.js';
import { checkPublished } from './published.js';
import { end, makeWorkspace, type Workspace } from './workspace.js';

const run = promisify(execFile);
/** A user without an account. */
const UID = 42_424;
const FIRST = 100;
const chain = generateChain({ length: 24, txsPerBlock: 2, logsPerTx: 1, tracesPerTx: 2, startNumber: FIRST });
const LAST = FIRST + 23;

let workspace: Workspace;
let node: ReplayNode;
let servers: Server[];
beforeEach(async () => {
  workspace = await makeWorkspace(inject('postgresUrl'));
  node = await createReplayNode({ blocks: chain });
  servers = [];
});
afterEach(async () => {
  for (const server of servers) server.close();
  await node.close();
  await workspace.remove();
});

/** Passes connections on to the server of this address; returns its port. */
async function forward(server: Server, event: string, host: string, target: string): Promise<number> {
  const { hostname, port } = new URL(target);
  server.on(event, (near: Socket) => {
    const far = connect(Number(port), hostname);
    near.pipe(far).pipe(near);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const)
      one.on('error', () => other.destroy()).on('close', () => other.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  servers.push(server);
  return (server.address() as AddressInfo).port;
}

/** Puts https with a certificate of an authority of its own before the node: its address, and the authority's file. */
async function serveHttps(): Promise<{ url: string; authority: string }> {
  const at = (name: string): string => path.join(workspace.directory, name);
  const make = (...args: string[]) => run('openssl', args);
  const fresh = ['-newkey', 'rsa:2048', '-nodes', '-keyout'];
  await make('req', '-x509', ...fresh, at('ca.key'), '-out', at('ca.pem'), '-subj', '/CN=A company');
  const san = ['-addext', 'subjectAltName=DNS:localhost', '-addext', 'basicConstraints=CA:FALSE'];
  const signed = ['-CA', at('ca.pem'), '-CAkey', at('ca.key')];
  const subject = ['-subj', '/CN=localhost', ...san];
  await make('req', '-x509', ...signed, ...fresh, at('own.key'), '-out', at('own.pem'), ...subject);
  const server = createTlsServer({ key: await readFile(at('own.key')), cert: await readFile(at('own.pem')) });
  const port = await forward(server, 'secureConnection', '127.0.0.1', node.url);
  return { url: `https://localhost:${port}`, authority: at('ca.pem') };
}

const main = path.join(root, 'apps/cli/dist/main.js');
/** A command that lets its command run with this umask, and if possible as a user without an account. */
async function within(): Promise<string[]> {
  const masked = ['sh', '-c', 'umask 077; exec "$@"', 'sh'];
  if (process.getuid?.() !== 0 || !isOnPath('setpriv')) return masked;
  const nobody = ['setpriv', `--reuid=${UID}`, `--regid=${UID}`, '--clear-groups'];
  // Not if the project is where only root may read.
  const readable = await run('setpriv', [...nobody.slice(1), 'test', '-r', main]).catch(() => undefined);
  return readable === undefined ? masked : [...nobody, ...masked];
}

test.skipIf(!isOnPath('openssl'))(
  "behind a company's certificate, with umask 077, in a folder with spaces, in another zone and language, as a user without an account (needs openssl)",
  async () => {
    const { url, authority } = await serveHttps();
    const directory = path.join(workspace.directory, 'a folder, größer als 1');
    await mkdir(directory);
    const command = await within();
    if (command[0] === 'setpriv') await chown(directory, UID, UID);
    await chmod(workspace.directory, 0o755);
    const start = (env: Record<string, string>) =>
      startProgram(
        main,
        ['local', '--rpc', url, '--from', String(FIRST), '--to', String(LAST), '--once', '--json'],
        {
          cwd: directory,
          within: command,
          env: {
            PATH: process.env.PATH,
            ...workspace.env,
            TZ: 'Pacific/Kiritimati',
            LC_ALL: 'tr_TR.UTF-8',
            ...env,
          },
        },
      );
    const refused = start({});
    expect(await refused.exit).toBe(69);
    expect(refused.stderr()).toMatch(
      /certificate of an unknown authority .*NODE_EXTRA_CA_CERTS=.*\[NODE_UNREACHABLE\]\n$/,
    );
    const cli = start({ NODE_EXTRA_CA_CERTS: authority });
    expect(await cli.exit, cli.stderr()).toBe(0);
    const data = path.join(directory, '.packhouse');
    await checkPublished({ ...workspace, directory: data }, chain, 'ethereum');
    for (const name of await readdir(data, { recursive: true })) {
      const { mode } = await stat(path.join(data, name));
      expect(mode & 0o077, `${name} is for its owner only`).toBe(0);
    }
  },
);

test('a machine that reaches everything by IPv6 only', async () => {
  await migrate({ connectionString: workspace.databaseUrl });
  const database = openDatabase(workspace.databaseUrl);
  const running: Program[] = [];
  try {
    await database.networks.register({ id: 'main', chainId: 1 });
    const kinds = ['blocks', 'transactions', 'receipts', 'logs', 'traces'] as const;
    await database.network('main').backfills.add({ kinds, from: FIRST, to: LAST, priority: 1 });
    const { key } = await database.keys.create({ application: 'test', network: null, plan: 'unlimited' });
    const postgres = new URL(workspace.databaseUrl);
    postgres.port = String(await forward(createTcpServer(), 'connection', '::1', workspace.databaseUrl));
    postgres.hostname = '[::1]';
    const rpc = `http://[::1]:${await forward(createTcpServer(), 'connection', '::1', node.url)}`;
    const env = {
      DATABASE_URL: postgres.href,
      NETWORKS_FILE: await writeNetworksFile(workspace, rpc, 8),
      OBJECT_STORE: path.join(workspace.directory, 'objects'),
      SIGNING_KEY_FILE: path.join(workspace.directory, 'signing-key.pem'),
      HOST: '::1',
      METRICS_HOST: '::1',
    };
    for (const name of ['ingester', 'packer', 'gateway'] as const) running.push(startService(name, env));
    const gateway = running[2] as Program;
    const { port } = await gateway.message('listening');
    const pointer = `http://[::1]:${port}/main/v1/${key}/bundle-api/logs/${FIRST}`;
    const ask = async (): Promise<string> => {
      const answer = await fetch(pointer);
      return answer.status === 200 ? ((await answer.json()) as { download_link: string }).download_link : '';
    };
    await expect.poll(ask, { timeout: 180_000 }).toMatch(new RegExp(`^http://\\[::1\\]:${port}/main/files/`));
    const file = await fetch(await ask(), { headers: { authorization: `Bearer ${key}` } });
    expect(file.status).toBe(200);
    await file.arrayBuffer();
  } finally {
    await database.close();
    for (const service of running) await end(service);
  }
});
