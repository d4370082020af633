import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Database, migrate } from '@packhouse/database';
import type { Program } from '@packhouse/local';
import { createReplayNode, generateChain, type ReplayNode } from '@packhouse/replay-node';
import { startService } from '@packhouse/rig';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { writeNetworksFile } from './networks-file.js';
import { openDatabase } from './open-database.js';
import { makeWorkspace, type Workspace } from './workspace.js';

// Two gateways of one installation know of each other by Postgres alone.
const WAIT = { timeout: 180_000, interval: 10 };
const chain = generateChain({ length: 40, txsPerBlock: 3, logsPerTx: 2, tracesPerTx: 1, seed: 33 });
const MIDDLE = 9;

interface Gateway {
  process: Program;
  url: string;
}
let workspace: Workspace;
let node: ReplayNode;
let database: Database;
let one: Gateway;
let other: Gateway;
beforeEach(async () => {
  workspace = await makeWorkspace(inject('postgresUrl'));
  await migrate({ connectionString: workspace.databaseUrl });
  database = openDatabase(workspace.databaseUrl);
  node = await createReplayNode({ blocks: chain, head: MIDDLE });
  [one, other] = await Promise.all([startGateway(), startGateway()]);
});
afterEach(async () => {
  for (const { process } of [one, other]) {
    process.child.kill('SIGKILL');
    await process.exit;
  }
  await database.close();
  await node.close();
  await workspace.remove();
});

async function startGateway(): Promise<Gateway> {
  const process = startService('gateway', {
    DATABASE_URL: workspace.databaseUrl,
    NETWORKS_FILE: await writeNetworksFile(workspace, node.url, 8),
    OBJECT_STORE: path.join(workspace.directory, 'objects'),
  });
  await process.message('ready');
  return { process, url: `http://127.0.0.1:${(await process.message('listening')).port}/main/v1/` };
}

const newKey = (): ReturnType<Database['keys']['create']> =>
  database.keys.create({ application: 'two gateways', plan: 'unlimited', network: null, expiresAt: null });

function send({ url }: Gateway, key: string, method: string, params: unknown[]): Promise<Response> {
  return fetch(`${url}${key}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
}

test('a key that is revoked is refused by both within a second', async () => {
  const { key, row } = await newKey();
  const ways = [one, other].flatMap((gateway) => [
    () => send(gateway, key, 'eth_chainId', []),
    () => fetch(`${gateway.url}${key}/bundle-api/logs/${MIDDLE}`),
  ]);
  // One client a way, which asks again as soon as it is answered and notes when it asked.
  const asked = ways.map((): { at: number; refused: boolean }[] => []);
  let done = false;
  const clients = ways.map(async (ask, way) => {
    while (!done) {
      const at = Date.now();
      const answer = await ask();
      await answer.arrayBuffer();
      asked[way]?.push({ at, refused: answer.status === 403 });
      await nextTurn();
    }
  });
  await expect.poll(() => Math.min(...asked.map((those) => those.length)), WAIT).toBeGreaterThan(10);
  expect(asked.flat().filter(({ refused }) => refused)).toEqual([]);
  await database.keys.revoke(row.prefix);
  const revoked = Date.now();
  await expect.poll(() => asked.every((those) => (those.at(-1)?.at ?? 0) > revoked + 1_500), WAIT).toBe(true);
  done = true;
  await Promise.all(clients);
  for (const those of asked) {
    expect(those.filter(({ at, refused }) => refused && at > revoked).length).toBeGreaterThan(0);
    // Whatever was let in was asked before the second was over, however slow the machine is.
    const last = those.filter(({ refused }) => !refused).at(-1);
    expect((last?.at ?? 0) - revoked).toBeLessThan(1_000);
  }
});

test('a filter that is made at one is polled at both, and goes on where one is killed: each log once', async () => {
  const { key } = await newKey();
  const call = async (gateway: Gateway, method: string, ...params: unknown[]): Promise<unknown> => {
    const body = (await (await send(gateway, key, method, params)).json()) as Record<string, unknown>;
    expect(body).toHaveProperty('result');
    return body.result;
  };
  const filter = await call(one, 'eth_newFilter', {});
  const got: unknown[] = [];
  const poll = async (gateway: Gateway): Promise<void> => {
    got.push(...((await call(gateway, 'eth_getFilterChanges', filter)) as unknown[]));
  };
  const logsTo = (head: number): Promise<unknown> =>
    call(other, 'eth_getLogs', {
      fromBlock: `0x${(MIDDLE + 1).toString(16)}`,
      toBlock: `0x${head.toString(16)}`,
    });
  const followTo = async (head: number, gateways: Gateway[]): Promise<void> => {
    node.setHead(head);
    const wanted = ((await logsTo(head)) as unknown[]).length;
    await expect
      .poll(async () => {
        for (const gateway of gateways) await poll(gateway);
        return got.length;
      }, WAIT)
      .toBeGreaterThanOrEqual(wanted);
    expect(got).toEqual(await logsTo(head));
  };

  await followTo(MIDDLE + 5, [other]);
  await followTo(MIDDLE + 10, [one, other]);
  one.process.child.kill('SIGKILL');
  expect(await one.process.exit).toBe('SIGKILL');
  await followTo(MIDDLE + 20, [other]);
  await poll(other);
  expect(got).toEqual(await logsTo(MIDDLE + 20));
  expect(await call(other, 'eth_uninstallFilter', filter)).toBe(true);
});
