import { createHash } from 'node:crypto';
import { filterItem } from '@packhouse/bundle';
import { createSigner, makeSigningKey, readSigningKey, sealFilter, toPublicKey } from '@packhouse/manifest';
import type { Match } from '@packhouse/rows';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { gatewayAddress } from '../fetch/gateway-address.js';
import { createHttp, type Http } from '../fetch/http.js';
import { makeFilter, serveFilters } from '../testing/serve-filters.js';
import { refuse, startTestGateway, type TestGateway } from '../testing/test-gateway.js';
import { type Choice, chooseFiles } from './choose-files.js';

const address = (n: number): string => `0x${n.toString(16).padStart(40, 'a')}`;
const topic = (n: number): string => `0x${n.toString(16).padStart(64, 'b')}`;
const sha256 = (data: Uint8Array): string => createHash('sha256').update(data).digest('hex');
const signer = createSigner(readSigningKey(makeSigningKey(), 'test'), 'packhouse/test');
const keys = new Map([[signer.keyId, toPublicKey(signer.publicKey)]]);

let gateway: TestGateway;
let http: Http;
/** Objects of filters by the first block of their files. */
let objects: Map<number, Uint8Array>;

beforeEach(async () => {
  gateway = await startTestGateway();
  http = createHttp({ apiKey: gateway.apiKey });
  objects = new Map();
  serveFilters(gateway, objects);
});
afterEach(async () => {
  await http.close();
  await gateway.close();
});

/** Publishes a file of ten blocks with a filter that its entry names. */
async function publish(start: number, ...items: Uint8Array[]): Promise<void> {
  const filter = await makeFilter({ firstBlock: start, lastBlock: start + 9 }, items);
  objects.set(start, filter);
  gateway.publish(start, start + 9, { filter: { bytes: filter.length, sha256: sha256(filter) } });
}

async function choose(match: Match): Promise<Choice[]> {
  const choices: Choice[] = [];
  const asked = { kind: 'logs' as const, firstBlock: 0, lastBlock: 999, match, entries: gateway.entries };
  const at = { address: gatewayAddress(gateway.url, gateway.apiKey), http, keys };
  for await (const choice of chooseFiles(at, asked)) choices.push(choice);
  return choices;
}

const loaded = (choices: Choice[]): number[] =>
  choices.filter(({ load }) => load).map(({ entry }) => entry.from);

const toLog = (account: number, ...topics: number[]): Uint8Array[] => [
  filterItem(address(account)),
  ...topics.map((n) => filterItem(topic(n))),
  ...topics.slice(0, 1).map((n) => filterItem(address(account), topic(n))),
];

it('loads the files that can hold an address, a topic, or both in one log', async () => {
  await publish(0, ...toLog(1, 1, 2));
  await publish(10, ...toLog(2, 1));
  await publish(20, ...toLog(1, 3), ...toLog(2, 1));
  await publish(30);
  await publish(40, ...toLog(1));
  expect(loaded(await choose({ addresses: [address(1)] }))).toEqual([0, 20, 40]);
  expect(loaded(await choose({ addresses: [address(7), address(2)] }))).toEqual([10, 20]);
  expect(loaded(await choose({ topics: [[topic(1)]] }))).toEqual([0, 10, 20]);
  expect(loaded(await choose({ topics: [null, [topic(9), topic(2)]] }))).toEqual([0]);
  expect(loaded(await choose({ addresses: [address(1)], topics: [[topic(1)]] }))).toEqual([0]);
  expect(
    loaded(await choose({ addresses: [address(1), address(2)], topics: [[topic(1)], [topic(3)]] })),
  ).toEqual([20]);
  expect(loaded(await choose({ addresses: [] }))).toEqual([]);
  expect((await choose({ addresses: [address(1)] })).map(({ by }) => by)).toEqual(Array(5).fill('filter'));
});

it('asks for no filters if everything matches', async () => {
  await publish(0);
  expect(loaded(await choose({ topics: [null] }))).toEqual([0]);
  expect(gateway.requests).toEqual([]);
});

it('loads a file whose filter is absent, forged, damaged, or of another version of the file', async () => {
  await publish(0);
  gateway.publish(10, 19);
  await publish(20);
  objects.set(20, await makeFilter({ firstBlock: 20, lastBlock: 29 }, toLog(3)));
  await publish(30);
  objects.set(30, (objects.get(30) as Uint8Array).subarray(1));
  await publish(40);
  const match = { addresses: [address(1)] };
  expect(loaded(await choose(match))).toEqual([10, 20, 30]);
  // Of a file that no entry names any more.
  const asked = gateway.entries.map((entry) => ({ ...entry }));
  const at = { address: gatewayAddress(gateway.url, gateway.apiKey), http, keys };
  const newer = asked.map((entry) => (entry.from === 40 ? { ...entry, sha256: 'ab'.repeat(32) } : entry));
  const choices: Choice[] = [];
  for await (const choice of chooseFiles(at, {
    kind: 'logs',
    firstBlock: 0,
    lastBlock: 999,
    match,
    entries: newer,
  })) {
    choices.push(choice);
  }
  expect(loaded(choices)).toEqual([10, 20, 30, 40]);
});

it('takes a filter that no entry names only with the signature of a trusted key for this file', async () => {
  const nothing = (start: number) => makeFilter({ firstBlock: start, lastBlock: start + 9 }, []);
  const other = createSigner(readSigningKey(makeSigningKey(), 'test'), 'packhouse/test');
  for (const start of [0, 10, 20, 30]) gateway.publish(start, start + 9);
  const [first, , third] = gateway.entries as [Choice['entry'], Choice['entry'], Choice['entry']];
  objects.set(0, sealFilter(await nothing(0), first.sha256, signer));
  objects.set(10, sealFilter(await nothing(10), third.sha256, signer));
  objects.set(20, sealFilter(await nothing(20), third.sha256, other));
  const changed = sealFilter(await nothing(30), gateway.entries[3]?.sha256 as string, signer);
  changed[40] = (changed[40] as number) ^ 1;
  objects.set(30, changed);
  expect(loaded(await choose({ addresses: [address(1)] }))).toEqual([10, 20, 30]);
});

it('loads everything from a gateway that has no filters', async () => {
  await publish(0);
  await publish(10);
  gateway.fault = (path, response) =>
    path.includes('/filters') && refuse(response, 404, { reason: 'route-unknown' });
  const choices = await choose({ addresses: [address(1)] });
  expect(choices.map(({ load, by }) => ({ load, by }))).toEqual(Array(2).fill({ load: true, by: 'none' }));
});

it('refuses a page that is cut off, or that does not ascend', async () => {
  await publish(0);
  await publish(10);
  gateway.fault = (path, response) => {
    if (!path.includes('/filters')) return false;
    response.end(Buffer.alloc(60));
    return true;
  };
  await expect(choose({ addresses: [address(1)] })).rejects.toMatchObject({ code: 'DOWNLOAD_FAILED' });
  gateway.fault = (path, response) => {
    if (!path.includes('/filters')) return false;
    response.writeHead(200, { 'packhouse-filters-next': '0' }).end();
    return true;
  };
  await expect(choose({ addresses: [address(1)] })).rejects.toMatchObject({ code: 'DOWNLOAD_FAILED' });
});
