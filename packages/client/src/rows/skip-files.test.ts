import { createHash } from 'node:crypto';
import { filterItem } from '@packhouse/bundle';
import { toSchema } from '@packhouse/rows';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createClient } from '../client/create-client.js';
import { gatewayAddress } from '../fetch/gateway-address.js';
import { createHttp } from '../fetch/http.js';
import { type Mirror, openMirror, planMirror } from '../mirror/mirror.js';
import { mirrorFiles } from '../mirror/mirror-files.js';
import { openSink } from '../sinks/open-sink.js';
import { makePullFolder, type PullFolder } from '../testing/open-folder.js';
import { makeFilter, serveFilters } from '../testing/serve-filters.js';
import { startTestGateway, type TestGateway } from '../testing/test-gateway.js';
import { pullRows } from './pull-rows.js';
import { skipFiles } from './skip-files.js';

const [token, other] = [`0x${'aa'.repeat(20)}`, `0x${'bb'.repeat(20)}`];
const match = { addresses: [token] };
const FILES = 40;
/** Every ninth file has a log of the token. */
const hasToken = (file: number): boolean => file % 9 === 4;
let gateway: TestGateway;
let folder: PullFolder;
beforeEach(async () => {
  gateway = await startTestGateway();
  folder = await makePullFolder();
  const filters = new Map<number, Uint8Array>();
  for (let file = 0; file < FILES; file += 1) {
    const address = hasToken(file) ? token : other;
    const object = await makeFilter({ firstBlock: file, lastBlock: file }, [filterItem(address)]);
    const sha256 = createHash('sha256').update(object).digest('hex');
    const filter = { bytes: object.length, sha256 };
    gateway.publish(file, file, { filter }, JSON.stringify([[toLog(file, address)]]));
    filters.set(file, object);
  }
  serveFilters(gateway, filters);
});
afterEach(async () => {
  await gateway.close();
  await folder.remove();
});

const toLog = (block: number, address: string): object => ({
  removed: false,
  logIndex: '0x0',
  transactionIndex: '0x0',
  transactionHash: `0x${'3'.repeat(64)}`,
  blockHash: `0x${'4'.repeat(64)}`,
  blockNumber: `0x${block.toString(16)}`,
  address,
  data: '0x',
  topics: [],
});

async function withMirror<T>(use: (mirror: Mirror) => Promise<T>): Promise<T> {
  const { url, apiKey, kind } = gateway;
  const http = createHttp({ apiKey });
  const signal = new AbortController().signal;
  const address = gatewayAddress(url, apiKey);
  const mirror = await openMirror({ folder: folder.path, kind, address, http, signal });
  try {
    return await use(mirror);
  } finally {
    await mirror.close();
    await http.close();
  }
}
const asked = (part: string): number => gateway.requests.filter((each) => each.includes(part)).length;

it('files that are left out are told in their place, and are not downloaded', async () => {
  const states = await withMirror(async (mirror) => {
    const plan = await skipFiles(mirror, await planMirror(mirror, {}), match, { parts: true });
    const bytes = gateway.entries
      .filter(({ from: start }) => hasToken(start))
      .reduce((sum, entry) => sum + entry.bytes, 0);
    expect(plan).toMatchObject({ files: 4, bytes, skippedFiles: 36 });
    const told: string[] = [];
    for await (const { range, state } of mirrorFiles(mirror, plan)) told.push(`${range.firstBlock} ${state}`);
    return told;
  });
  expect(states).toEqual(
    Array.from({ length: FILES }, (_, file) => `${file} ${hasToken(file) ? 'downloaded' : 'skipped'}`),
  );
  expect(asked('/files/logs')).toBe(4);
});

it('a target has their blocks too, so that the next run asks for nothing', async () => {
  const pull = (): Promise<number> =>
    withMirror(async (mirror) => {
      const schema = toSchema('logs');
      const origin = { base: mirror.options.address.base, kind: 'logs' as const, schema: schema.name, match };
      const target = { format: 'jsonl' as const, folder: folder.at('rows') };
      const sink = await openSink(target, { schema, origin, network: 'ethereum' });
      const plan = await skipFiles(mirror, await planMirror(mirror, { has: sink.state.done }), match, {
        parts: true,
      });
      for await (const _ of pullRows({ mirror, plan, sink, match, keep: false }));
      expect(sink.state.done).toEqual([{ firstBlock: 0, lastBlock: FILES - 1 }]);
      await sink.close();
      return sink.state.rows;
    });
  expect(await pull()).toBe(4);
  gateway.requests.length = 0;
  expect(await pull()).toBe(4);
  expect(gateway.requests).toHaveLength(1);
});

it('files that are in the folder stay, and without others no filter is asked for', async () => {
  await folder.pull(gateway);
  await withMirror(async (mirror) => {
    const plan = await planMirror(mirror, {});
    expect(await skipFiles(mirror, plan, match, { parts: true })).toBe(plan);
    expect(asked('/filters')).toBe(0);
  });
});

it('a quote counts without them, and counts the requests for filters', async () => {
  const client = createClient({ url: gateway.url, apiKey: gateway.apiKey });
  const all = await client.quote({ kind: 'logs', from: 0, to: FILES - 1 });
  expect(all).toMatchObject({ files: FILES, skippedFiles: 0, requests: FILES + 5 });
  const some = await client.quote({ kind: 'logs', from: 0, to: FILES - 1, address: token });
  expect(some).toMatchObject({ files: 4, skippedFiles: 36, requests: 4 + 5 + FILES / 2 });
  expect(some.bytes).toBeLessThan(all.bytes);
  await client.close();
});
