import { KINDS } from '@packhouse/chain';
import { HOLE_REASONS } from '@packhouse/database';
import { beforeAll, expect, test } from 'vitest';
import { REASONS } from '../web/src/lib/reasons.js';
import { useConsole } from './testing/use-console.js';

const HASH = `0x${'0'.repeat(64)}`;
const HEAD = 999_999_999;
const at = useConsole();
let viewer: { authorization: string };

beforeAll(async () => {
  viewer = await at.token('viewer');
  const { database } = at;
  await database.networks.register({ id: 'main', chainId: 1 });
  const main = database.network('main');
  await main.head.set({ number: HEAD, hash: HASH, finalized: HEAD - 10 });
  await main.backfills.add({ kinds: [...KINDS], from: 1_000, to: null, priority: 1 });
  const { id } = await main.backfills.add({ kinds: ['logs'], from: 900, to: 999, priority: 1 });
  await database.backfills.change(id, { state: 'paused' });
  const failed = { network: 'main', message: 'x', upstream: 'node', payloadDigest: null };
  await main.quarantine.put({ ...failed, firstBlock: 1_005, kinds: ['logs'], cause: 'PROOF_FAILED' });
  await main.bundles.publish({
    kind: 'logs',
    firstBlock: 1_000,
    lastBlock: 1_003,
    objectKey: 'k',
    byteLength: 1,
    rawLength: 1,
    sha256: HASH.slice(2),
    firstHash: HASH,
    firstParentHash: HASH,
    lastHash: HASH,
    proofs: [],
    formatVersion: 1,
    fragments: [{ firstBlock: 1_000, lastBlock: 1_003, byteLength: 1, rawLength: 1, crc32: 1 }],
  });
});

const ask = async (path: string) => {
  const answer = await at.ask({ method: 'GET', url: `/api/${path}`, headers: viewer });
  return { status: answer.statusCode, body: answer.json(), bytes: Buffer.byteLength(answer.body) };
};

test('the map has a letter of the worst reason and the missing blocks of each column', async () => {
  const { body } = await ask('coverage/map?network=main&from=998&to=1_009&kinds=logs,traces&columns=12');
  expect(body).toMatchObject({
    network: 'main',
    from: 998,
    to: 1_009,
    width: 1,
    head: HEAD,
    queueSeen: false,
  });
  const letter = (reason: string) => String.fromCharCode(97 + body.reasons.indexOf(reason));
  const [paused, waiting, quarantined, nobody] = ['paused', 'waiting', 'quarantined', 'not-requested'].map(
    letter,
  );
  expect(body.kinds).toEqual([
    {
      kind: 'logs',
      worst: `${paused}${paused}....${waiting}${quarantined}${waiting}${waiting}${waiting}${waiting}`,
      missing: [1, 1, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1],
    },
    { kind: 'traces', worst: `${nobody}${nobody}${waiting?.repeat(10)}`, missing: Array(12).fill(1) },
  ]);
  const four = (await ask('coverage/map?network=main&from=998&to=1_009&kinds=logs&columns=4')).body;
  expect(four).toMatchObject({
    width: 4,
    kinds: [{ worst: `${paused}.${quarantined}${waiting}`, missing: [2, 0, 4, 2] }],
  });
});

test('the map of a thousand million blocks is less than 50 KB', async () => {
  const { body, bytes } = await ask('coverage/map?network=main');
  expect(bytes).toBeLessThan(50_000);
  expect(body).toMatchObject({
    from: 900,
    to: HEAD,
    width: 2 ** 20,
    whole: { from: 900, to: HEAD },
  });
  expect(body.kinds).toHaveLength(KINDS.length);
  expect(body.kinds[0].missing).toHaveLength(954);
  expect([...body.reasons].sort()).toEqual([...HOLE_REASONS].sort());
  expect(Object.keys(REASONS)).toEqual(body.reasons);
});

test('holes come with advice, a page at a time', async () => {
  const first = (await ask('coverage/holes?network=main&from=998&to=1_009&kinds=logs&limit=2')).body;
  expect(first).toMatchObject({ range: { from: 998, to: 1_004 }, next: 1_005 });
  expect(first.holes).toMatchObject([
    {
      kind: 'logs',
      from: 998,
      to: 999,
      reason: 'paused',
      advice: 'Its backfill is paused: resume it.',
      since: expect.any(String),
    },
    { kind: 'logs', from: 1_004, to: 1_004, reason: 'waiting', since: null, quarantine: null },
  ]);
  const next = (await ask(`coverage/holes?network=main&from=${first.next}&to=1_009&kinds=logs&limit=2`)).body;
  expect(next.holes).toMatchObject([
    {
      from: 1_005,
      reason: 'quarantined',
      since: expect.any(String),
      quarantine: { cause: 'PROOF_FAILED' },
      advice: expect.stringMatching(/^It failed once with PROOF_FAILED/),
    },
    { from: 1_006, to: 1_009, reason: 'waiting' },
  ]);
  expect(next.next).toBeNull();
});

test('holes of some reasons are found beyond a page without them', async () => {
  const { body } = await ask(
    'coverage/holes?network=main&from=0&to=1_009&kinds=logs&limit=1&reasons=quarantined',
  );
  expect(body).toMatchObject({
    holes: [{ from: 1_005, reason: 'quarantined' }],
    others: 3,
    range: { from: 0, to: 1_005 },
    next: 1_006,
  });
  const none = (await ask('coverage/holes?network=main&from=998&to=1_004&kinds=logs&reasons=halted')).body;
  expect(none).toMatchObject({ holes: [], others: 2, next: null });
  expect((await ask('coverage/holes?network=main&from=0&to=9&reasons=unknown')).status).toBe(400);
});

test('what cannot be shown is refused, and what nobody wants is no map', async () => {
  expect((await ask('coverage/map?network=main&from=9&to=8')).body).toMatchObject({
    error: { code: 'RANGE_INVALID' },
  });
  expect((await ask('coverage/map?network=gone')).body).toMatchObject({ error: { code: 'NETWORK_UNKNOWN' } });
  expect((await ask('coverage/map?network=main&columns=1001')).status).toBe(400);
  expect((await ask('coverage/map?network=main&kinds=uncles')).status).toBe(400);
  const { body: far } = await ask(
    `coverage/map?network=main&kinds=logs&from=${HEAD}&to=${Number.MAX_SAFE_INTEGER}`,
  );
  expect(far.kinds[0].missing[0]).toBe(far.width - (HEAD % far.width));
  await at.database.networks.register({ id: 'empty', chainId: 2 });
  expect((await ask('coverage/map?network=empty')).body).toMatchObject({ whole: null, kinds: [] });
  expect((await ask('networks')).body).toMatchObject([{ id: 'main' }, { id: 'empty' }]);
});
