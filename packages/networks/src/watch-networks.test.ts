import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Context, createLogger, createMetrics, PackhouseError, systemClock } from '@packhouse/runtime';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Network } from './network.js';
import { parseNetworks } from './parse-networks.js';
import { type NetworksWatch, watchNetworks } from './watch-networks.js';

const A = 'networks:\n  - {id: a, family: evm, chainId: 1, upstreams: [{url: "http://one:1"}]}\n';
const AB = `${A}  - {id: b, family: cell, upstreams: [{url: "http://me:secret@two:1"}]}\n`;

let folder: string;
let log: string[];
let watch: NetworksWatch | undefined;
let applied: string[][];
let refusal: Error | null;
let tries: number;
let context: Context;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'networks-'));
  log = [];
  applied = [];
  refusal = null;
  tries = 0;
  context = {
    logger: createLogger({
      name: 'test',
      level: 'trace',
      destination: { write: (line) => void log.push(line) },
    }),
    metrics: createMetrics(),
    clock: systemClock,
    signal: new AbortController().signal,
  };
});
afterEach(async () => {
  await watch?.close();
  await rm(folder, { recursive: true });
});

function start(path: string, text: string, everyMs = 50): NetworksWatch {
  watch = watchNetworks({
    path,
    env: {},
    context,
    everyMs,
    networks: parseNetworks(text, { source: path, env: {} }),
    apply: async (networks: readonly Network[]) => {
      tries += 1;
      if (refusal !== null) throw refusal;
      applied.push(networks.map(({ id }) => id));
    },
  });
  return watch;
}

const until = (check: () => void): Promise<void> => vi.waitFor(check, { timeout: 120_000, interval: 20 });
const gauge = async (): Promise<string | undefined> =>
  /^packhouse_networks_file_ok (\d)/m.exec(await context.metrics.render())?.[1];

it('takes a file up that was written in place, and logs the difference without a secret', async () => {
  const path = join(folder, 'networks.yaml');
  await writeFile(path, A);
  const watching = start(path, A);
  const before = watching.digest();
  expect(before).toMatch(/^[0-9a-f]{8}$/);
  await writeFile(path, AB);
  await until(() => expect(applied).toEqual([['a', 'b']]));
  await until(() => expect(watching.digest()).not.toBe(before));
  await until(() => expect(log.join('')).toContain('"changes":["b added"]'));
  expect(log.join('')).not.toContain('secret');
});

it('has one pause at a time, however often other files of the folder are written', async () => {
  let begun = 0;
  let pending = 0;
  context.clock = {
    ...systemClock,
    sleep: (ms, signal) => {
      begun += 1;
      pending += 1;
      return systemClock.sleep(ms, signal).finally(() => {
        pending -= 1;
      });
    },
  };
  const path = join(folder, 'networks.yaml');
  await writeFile(path, A);
  start(path, A, 600_000);
  await vi.waitFor(
    async () => {
      await writeFile(join(folder, 'other.log'), String(begun));
      expect(begun).toBeGreaterThan(12);
    },
    { timeout: 120_000, interval: 5 },
  );
  expect(pending).toBeLessThanOrEqual(1);
});

it('takes a file up that an editor put in the place of the old one', async () => {
  const path = join(folder, 'networks.yaml');
  await writeFile(path, A);
  start(path, A);
  await writeFile(`${path}~`, AB);
  await rename(`${path}~`, path);
  await until(() => expect(applied).toEqual([['a', 'b']]));
});

it('takes a file up behind a folder that is a link which is swapped, as Kubernetes does', async () => {
  await mkdir(join(folder, 'v1'));
  await mkdir(join(folder, 'v2'));
  await writeFile(join(folder, 'v1', 'networks.yaml'), A);
  await writeFile(join(folder, 'v2', 'networks.yaml'), AB);
  await symlink('v1', join(folder, 'data'));
  await symlink(join('data', 'networks.yaml'), join(folder, 'networks.yaml'));
  start(join(folder, 'networks.yaml'), A);
  await symlink('v2', join(folder, 'next'));
  await rename(join(folder, 'next'), join(folder, 'data'));
  await until(() => expect(applied).toEqual([['a', 'b']]));
});

it('leaves what is in force where the change is bad, says line and field, and goes on when it is mended', async () => {
  const path = join(folder, 'networks.yaml');
  await writeFile(path, A);
  const watching = start(path, A);
  await writeFile(path, AB.replace('cell', 'sell'));
  await until(() => expect(watching.problem()).toMatch(/line 3: networks\[1\]\.family/));
  expect(await gauge()).toBe('0');
  expect(applied).toEqual([]);
  const refused = log.filter((line) => line.includes('networks file rejected'));
  expect(refused).toHaveLength(1);
  expect(refused[0]).toContain('line 3');
  await writeFile(path, AB);
  await until(() => expect(applied).toEqual([['a', 'b']]));
  await until(() => expect(watching.problem()).toBeNull());
  expect(await gauge()).toBe('1');
});

it('says so where the file is gone, and that all is well when it is back as it was', async () => {
  const path = join(folder, 'networks.yaml');
  await writeFile(path, A);
  const watching = start(path, A);
  await until(() => expect(watching.problem()).toBeNull());
  await rm(path);
  await until(() => expect(watching.problem()).toMatch(/there is no such file/));
  await writeFile(path, A);
  await until(() => expect(watching.problem()).toBeNull());
  expect(applied).toEqual([]);
});

it('what cannot be put in force is refused like a bad file, and a comment changes nothing', async () => {
  const path = join(folder, 'networks.yaml');
  await writeFile(path, A);
  const watching = start(path, A);
  refusal = new Error('two networks at one address');
  await writeFile(path, AB);
  await until(() => expect(watching.problem()).toMatch(/two networks at one address/));
  await writeFile(path, `${A}# a comment`);
  await until(() => expect(watching.problem()).toBeNull());
  expect(applied).toEqual([]);
});

it('what could not be put in force for a reason that passes is put in force later, and said once', async () => {
  const path = join(folder, 'networks.yaml');
  await writeFile(path, A);
  const watching = start(path, A);
  refusal = new PackhouseError({ code: 'DATABASE_UNAVAILABLE', message: 'Postgres does not answer.' });
  await writeFile(path, AB);
  await until(() => expect(tries).toBeGreaterThan(3));
  expect(watching.problem()).toMatch(/Postgres does not answer/);
  expect(log.filter((line) => line.includes('networks file rejected'))).toHaveLength(1);
  refusal = null;
  await until(() => expect(applied).toEqual([['a', 'b']]));
  await until(() => expect(watching.problem()).toBeNull());
});
