import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { KINDS } from '@packhouse/chain';
import { type LocalPostgres, runSql, startPostgres } from '@packhouse/local';
import { createVerifier, toPublicKey } from '@packhouse/manifest';
import { createLogStore } from '@packhouse/pipeline';
import { chainFrom } from '@packhouse/pipeline/testing/chains.js';
import { makeWorld, type World } from '@packhouse/pipeline/testing/world.js';
import { afterEach, expect, it } from 'vitest';
import { auditWorld } from '../testing/audited.js';
import { adopt } from './adopt.js';

const FIRST = 1_000;
const REPLICATING = { wal_level: 'replica', max_wal_senders: '4', shared_buffers: '32MB' };

const cleanUp: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
}, 60_000);

/** An address that is that of one server, and later of another. */
async function startAddress(target: string) {
  let { port } = new URL(target);
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(port), '127.0.0.1');
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(target);
  url.port = String((server.address() as { port: number }).port);
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const close = async (): Promise<void> => {
    server.close();
    cut();
  };
  cleanUp.push(close);
  return {
    url,
    close,
    moveTo(other: string): void {
      ({ port } = new URL(other));
      cut();
    },
  };
}

/** A primary, and a standby that replicates from it asynchronously. */
async function startPair(): Promise<{
  primary: LocalPostgres;
  standby: LocalPostgres;
  cutReplication(): Promise<void>;
}> {
  const directory = await mkdtemp(path.join(tmpdir(), 'packhouse-promotion-'));
  // Postgres' own account must reach it.
  await chmod(directory, 0o755);
  cleanUp.push(() => rm(directory, { recursive: true, force: true }));
  const [first, second] = ['primary', 'standby'].map((name) => path.join(directory, name)) as [
    string,
    string,
  ];
  await (await startPostgres({ directory: first, settings: REPLICATING })).stop();
  await promisify(execFile)('cp', ['-a', first, second]);
  const primary = await startPostgres({ directory: first, settings: REPLICATING });
  cleanUp.push(() => primary.stop());
  const link = await startAddress(primary.url);
  const { hostname, port, username, password } = link.url;
  await writeFile(path.join(second, 'data', 'standby.signal'), '');
  const conninfo = `host=${hostname} port=${port} user=${username} password=${password} sslmode=disable`;
  const standby = await startPostgres({
    directory: second,
    settings: { ...REPLICATING, primary_conninfo: conninfo },
  });
  cleanUp.push(() => standby.stop());
  return { primary, standby, cutReplication: link.close };
}

async function replayed(primary: LocalPostgres, standby: LocalPostgres): Promise<boolean> {
  const [at] = await runSql<{ lsn: string }>(primary.url, 'SELECT pg_current_wal_lsn()::text AS lsn');
  const [row] = await runSql<{ done: boolean }>(
    standby.url,
    `SELECT pg_last_wal_replay_lsn() >= '${at?.lsn}'::pg_lsn AS done`,
  );
  return row?.done === true;
}

async function wholeLogs(world: World): Promise<number> {
  const keys = (await world.database.manifest.keys()).map(
    (row) => [row.keyId, toPublicKey(row.publicKey)] as const,
  );
  const verifier = createVerifier(new Map(keys));
  let entries = 0;
  for (const kind of KINDS) {
    for (const entry of await world.database.network('main').manifest.entries(kind, -1, 1_000)) {
      verifier.push(entry);
      entries += 1;
    }
  }
  return entries;
}

it.runIf(process.platform !== 'win32')(
  'a promoted asynchronous standby: running processes publish what was lost again, without a gap and over no object',
  async () => {
    const blocks = chainFrom(FIRST, 104);
    const { primary, standby, cutReplication } = await startPair();
    const address = await startAddress(primary.url);
    const world = await makeWorld(address.url.href, [{ blocks }], { maxBlocks: 4 });
    cleanUp.push(() => world.close());
    const logs = createLogStore(world);
    const main = world.database.network('main');
    const publish = async (lastBlock: number): Promise<void> => {
      const hash = blocks[lastBlock - FIRST]?.block.hash as string;
      await main.head.set({ number: lastBlock, hash, finalized: lastBlock });
      await world.settle();
      for (const kind of KINDS) await logs.store('main', kind);
    };

    await world.want(FIRST, FIRST + 103);
    await publish(FIRST + 51);
    await expect.poll(() => replayed(primary, standby), { timeout: 30_000 }).toBe(true);
    await cutReplication();
    await publish(FIRST + 95);
    const lost = await main.manifest.entries('blocks', 12, 100);
    expect(lost.map(({ sequence }) => sequence)).toEqual([13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23]);
    const before = await wholeLogs(world);
    const objects = new Map<string, Buffer>();
    for await (const { key } of world.objectStore.list('main/'))
      objects.set(key, await world.objectStore.read(key));
    process.kill(primary.pid, 'SIGKILL');
    await primary.ended;
    await runSql(standby.url, 'SELECT pg_promote(true, 60)');
    address.moveTo(standby.url);

    // The process remembers entry 23, and its database ends at entry 12.
    await expect
      .poll(async () => (await main.manifest.tip('blocks'))?.sequence, { timeout: 30_000 })
      .toBe(12);
    const kept = await wholeLogs(world);
    const refusals: unknown[] = [];
    for (let go = true; go; ) {
      go = await publish(FIRST + 103).then(
        () => false,
        (error: unknown) => refusals.push(error) > 0,
      );
    }
    expect(refusals).toEqual(KINDS.map(() => expect.objectContaining({ code: 'MANIFEST_REWOUND' })));
    // What was lost is fetched and published again: nothing that was remembered hides it, and no object is replaced.
    const added = (await wholeLogs(world)) - kept;
    expect(added).toBeGreaterThanOrEqual(KINDS.length * 13);
    for (const [key, bytes] of objects) expect((await world.objectStore.read(key)).equals(bytes)).toBe(true);
    expect(await main.alarms.list()).toMatchObject([{ name: 'MANIFEST_REWOUND' }]);

    const keys = new Map(
      (await world.database.manifest.keys()).map((row) => [row.keyId, toPublicKey(row.publicKey)]),
    );
    const taken = await adopt({ ...world, keys }, { network: 'main', dryRun: false }, world.context.signal);
    expect(taken.counts).toMatchObject({ readopted: 0, missing: 0, damaged: 0, untrusted: 0 });
    expect(taken.counts.covered).toBe(before - kept);
    expect(taken.broken).toEqual([]);
    expect(await wholeLogs(world)).toBe(kept + added);
    for (const kind of KINDS) {
      const { published } = await main.coverage(kind);
      expect(published).toEqual([{ firstBlock: FIRST, lastBlock: FIRST + 103 }]);
      const entries = await main.manifest.entries(kind, -1, 100);
      expect(new Set(entries.map(({ sha256 }) => sha256)).size).toBe(entries.length);
    }
    expect((await auditWorld(world)).findings).toEqual([]);
    expect(await main.alarms.list()).toEqual([]);
  },
  120_000,
);
