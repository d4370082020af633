import path from 'node:path';
import { KINDS } from '@packhouse/chain';
import { type Program, startProgram } from '@packhouse/local';
import { createReplayNode, generateChain } from '@packhouse/replay-node';
import { startService } from '@packhouse/rig';
import { expect, inject, test } from 'vitest';
import { writeNetworksFile } from './networks-file.js';
import { openDatabase } from './open-database.js';
import { root } from './pasted.js';
import { checkPublished } from './published.js';
import { end, makeWorkspace } from './workspace.js';

const WAIT = { timeout: 240_000, interval: 50 };
const FIRST = 1_000;
/** Of each of the four parts: old, both, new, and old again. */
const PART = 24;
const chain = generateChain({
  length: 4 * PART,
  txsPerBlock: 3,
  logsPerTx: 1,
  tracesPerTx: 2,
  startNumber: FIRST,
});
/** The folder of an older checkout that is built. */
const OLD = process.env.UPGRADE_FROM;
const ROLES = ['ingester', 'packer', 'gateway'] as const;

test.skipIf(OLD === undefined)(
  'an older build, both side by side, this one, and the older one again: all is published once, and every link keeps working (needs UPGRADE_FROM)',
  async () => {
    const workspace = await makeWorkspace(inject('postgresUrl'));
    const node = await createReplayNode({ blocks: chain });
    const env = {
      DATABASE_URL: workspace.databaseUrl,
      NETWORKS_FILE: await writeNetworksFile(workspace, node.url, 8),
      OBJECT_STORE: path.join(workspace.directory, 'objects'),
      SIGNING_KEY_FILE: path.join(workspace.directory, 'signing-key.pem'),
    };
    const command = async (build: string, ...args: string[]): Promise<string> => {
      const cli = startProgram(path.join(build, 'apps/cli/dist/main.js'), args, {
        env: { PATH: process.env.PATH, ...env },
      });
      expect(await cli.exit, cli.stderr()).toBe(0);
      return cli.stdout();
    };
    let running: Program[] = [];
    const start = async (build: string): Promise<Program[]> => {
      const services = ROLES.map((name) => startService(name, env, { root: build }));
      running.push(...services);
      await Promise.all(services.map((service) => service.message('ready')));
      return services;
    };
    const stop = async (services: Program[]): Promise<void> => {
      for (const service of services) {
        await end(service);
        expect(await service.exit, service.log()).toBe(0);
      }
      running = running.filter((service) => !services.includes(service));
    };
    let key = '';
    const links = new Map<number, string>();
    const pointer = async (services: Program[], block: number): Promise<Response> => {
      const { port } = await (services[2] as Program).message('listening');
      return fetch(`http://127.0.0.1:${port}/main/v1/${key}/bundle-api/logs/${block}`);
    };
    /** Requests a part by one build, and waits until it is published and served by all that run. */
    const publish = async (part: number, build: string, ...serving: Program[][]): Promise<void> => {
      const from = FIRST + part * PART;
      const range = ['--from', String(from), '--to', String(from + PART - 1)];
      await command(build, 'backfill', 'add', '--network', 'main', ...range);
      const database = openDatabase(workspace.databaseUrl);
      const total = async (): Promise<number> => {
        const totals = KINDS.map((kind) => database.network('main').bundles.totals(kind));
        return (await Promise.all(totals)).reduce((sum, { blocks }) => sum + blocks, 0);
      };
      await expect.poll(total, WAIT).toBe((part + 1) * PART * KINDS.length);
      await database.close();
      for (const services of serving) {
        const answer = await pointer(services, from);
        expect(answer.status).toBe(200);
        links.set(from, new URL(((await answer.json()) as { download_link: string }).download_link).pathname);
        const { port } = await (services[2] as Program).message('listening');
        for (const link of links.values()) {
          const headers = { authorization: `Bearer ${key}` };
          expect((await fetch(`http://127.0.0.1:${port}${link}`, { headers })).status, link).toBe(200);
        }
      }
    };
    const old = OLD as string;
    try {
      await command(old, 'migrate');
      const before = await start(old);
      key = /ph_[\w-]+/.exec(
        await command(old, 'keys', 'create', '--application', 'test', '--plan', 'unlimited'),
      )?.[0] as string;
      await publish(0, old, before);
      await command(root, 'migrate');
      const after = await start(root);
      await publish(1, root, before, after);
      await stop(before);
      await publish(2, root, after);
      await stop(after);
      const again = await start(old);
      await publish(3, old, again);
      await stop(again);
      await checkPublished(workspace, chain, 'main');
      for (const build of [old, root])
        expect(await command(build, 'audit', '--json'), build).toMatch(/"event":"done".*"findings":0,/);
    } finally {
      for (const service of running) await end(service);
      await node.close();
      await workspace.remove();
    }
  },
);
