import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { deflatePiece, toFragment } from '@packhouse/bundle';
import { KINDS, type Kind } from '@packhouse/chain';
import type { BundleRow } from '@packhouse/database';
import { generateChain } from '@packhouse/replay-node';
import { beforeEach, describe, expect, test } from 'vitest';
import { canonicalText } from '../chain/canonical.js';
import { fixedChain } from '../chain/fixed-chain.js';
import type { Sighting } from '../watch/watcher.js';
import { contentIsHonest } from './1-content-is-honest.js';
import { noOverlapOnlyFinal } from './2-no-overlap-only-final.js';
import { bytesNeverChange } from './3-bytes-never-change.js';
import { coverageIsExact } from './4-coverage-is-exact.js';
import { nothingLostOrDoubled } from './5-nothing-lost-or-doubled.js';
import { pointersResolve } from './6-pointers-resolve.js';
import { reclaimedAfterReadable } from './7-reclaimed-after-readable.js';
import { noSecrets } from './8-no-secrets.js';
import { memoryBounded } from './9-memory-bounded.js';
import type { Evidence } from './evidence.js';

// Every check is held against a world that is well, and against one in which exactly its invariant is broken.
const blocks = generateChain({ length: 12, txsPerBlock: 3, logsPerTx: 1, tracesPerTx: 1, startNumber: 100 });
const chain = fixedChain(blocks, 109);
const expected = { firstBlock: 100, lastBlock: 109 };

interface Faked {
  rows: BundleRow[];
  objects: Map<string, Buffer>;
  stagedHash: string;
  stagedText: string | null;
  quarantined: { firstBlock: number; cause: string }[];
  published: { firstBlock: number; lastBlock: number }[] | null;
}
let world: Faked;
let evidence: Evidence;
let sightings: Sighting[];

function bundle(kind: Kind, firstBlock: number, lastBlock: number): BundleRow {
  const texts = blocks.slice(firstBlock - 100, lastBlock - 99).map((block) => canonicalText(block, kind));
  const body = gzipSync(`[${texts.join(',')}]`);
  const objectKey = `main/${kind}/${firstBlock}-${lastBlock}.json.gz`;
  world.objects.set(objectKey, body);
  const sha256 = createHash('sha256').update(body).digest('hex');
  const getHash = (number: number): string => chain.block(number)?.block.hash ?? '';
  return {
    network: 'main',
    kind,
    firstBlock,
    lastBlock,
    objectKey,
    sha256,
    firstHash: getHash(firstBlock),
    lastHash: getHash(lastBlock),
  } as BundleRow;
}

beforeEach(async () => {
  world = {
    rows: [],
    objects: new Map(),
    stagedHash: chain.block(110)?.block.hash ?? '',
    stagedText: null,
    quarantined: [],
    published: null,
  };
  world.rows = KINDS.flatMap((kind) => [bundle(kind, 100, 104), bundle(kind, 105, 109)]);
  const fragmentFor = async (kind: Kind) => {
    const text = world.stagedText ?? canonicalText(chain.block(110) as (typeof blocks)[number], kind);
    return toFragment({ firstBlock: 110, lastBlock: 110 }, await deflatePiece(Buffer.from(text)));
  };
  const toRows = (kind: Kind): BundleRow[] =>
    world.rows.filter((row) => row.kind === kind).sort((a, b) => a.firstBlock - b.firstBlock);
  const ofNetwork = {
    bundles: { list: async (kind: Kind) => toRows(kind) },
    coverage: async (kind: Kind) => ({
      published:
        world.published ?? toRows(kind).map(({ firstBlock, lastBlock }) => ({ firstBlock, lastBlock })),
    }),
    quarantine: { list: async () => world.quarantined },
    staging: {
      blocks: async () => [{ number: 110, hash: world.stagedHash }],
      fragments: async (kind: Kind) => [await fragmentFor(kind)],
      bodies: async (kind: Kind) => [(await fragmentFor(kind)).body],
    },
  };
  const database = { network: () => ofNetwork } as unknown as Evidence['database'];
  evidence = {
    database,
    network: 'main',
    kinds: KINDS,
    chain,
    readObject: (key) => world.objects.get(key) ?? null,
  };
  sightings = world.rows.map((row) => ({ row, objectSha256: row.sha256, finalized: 109 }));
});

const first = (): BundleRow => world.rows[0] as BundleRow;

test('a world that is well violates nothing, and everything was looked at', async () => {
  for (const verdict of [
    await contentIsHonest(evidence),
    await noOverlapOnlyFinal(evidence, sightings),
    await bytesNeverChange(evidence, sightings),
    await coverageIsExact(evidence, expected),
    await nothingLostOrDoubled(evidence, expected, { fetchedAgain: 4, disturbances: 1, blocksEach: 4 }),
  ]) {
    expect(verdict.violations, verdict.title).toEqual([]);
    expect(verdict.checked, verdict.title).toBeGreaterThan(0);
  }
});

describe('invariant 1, content', () => {
  test('finds a record that is another one in a published file', async () => {
    const other = gzipSync(JSON.stringify([1, 2, 3, 4, 5]));
    world.objects.set(first().objectKey, other);
    first().sha256 = createHash('sha256').update(other).digest('hex');
    expect((await contentIsHonest(evidence)).violations).toHaveLength(1);
  });

  test('finds an object that is not what the index says, and one that is gone', async () => {
    world.objects.set(first().objectKey, Buffer.from('x'));
    world.objects.delete((world.rows[1] as BundleRow).objectKey);
    expect((await contentIsHonest(evidence)).violations).toHaveLength(2);
  });

  test('finds a staged block of another branch, and staged text of another block', async () => {
    world.stagedHash = '0xff';
    expect((await contentIsHonest(evidence)).violations).toHaveLength(1);
    world.stagedHash = chain.block(110)?.block.hash ?? '';
    world.stagedText = '[]';
    expect((await contentIsHonest(evidence)).violations.length).toBeGreaterThan(0);
  });
});

test('invariant 2 finds an overlap, a bundle beyond finality, and one that was published too early', async () => {
  world.rows.push(bundle('logs', 104, 106));
  expect((await noOverlapOnlyFinal(evidence, [])).violations).toHaveLength(2);
  world.rows.pop();
  world.rows.push(bundle('logs', 110, 110));
  expect((await noOverlapOnlyFinal(evidence, [])).violations).toHaveLength(1);
  world.rows.pop();
  const early = sightings.map((sighting) => ({ ...sighting, finalized: 108 }));
  expect((await noOverlapOnlyFinal(evidence, early)).violations).toHaveLength(KINDS.length);
});

test('invariant 3 finds bytes that changed, a row that is gone, and an object that was late', async () => {
  world.objects.set(first().objectKey, Buffer.from('x'));
  expect((await bytesNeverChange(evidence, sightings)).violations).toHaveLength(1);
  world.rows = world.rows.slice(1);
  expect((await bytesNeverChange(evidence, sightings.slice(0, 1))).violations).toHaveLength(2);
  const late = sightings.slice(1, 2).map((sighting) => ({ ...sighting, objectSha256: null }));
  expect((await bytesNeverChange(evidence, late)).violations).toHaveLength(1);
});

test('invariant 4 finds a hole, coverage that says otherwise, and a quarantine without cause', async () => {
  const hole = first();
  world.rows = world.rows.slice(1);
  expect((await coverageIsExact(evidence, expected)).violations).toHaveLength(5);
  const excused = [100, 101, 102, 103, 104].map((block) => ({ kind: hole.kind, block, reason: 'gone' }));
  expect((await coverageIsExact(evidence, expected, excused)).violations).toEqual([]);
  world.rows.unshift(hole);
  world.published = [{ firstBlock: 100, lastBlock: 110 }];
  expect((await coverageIsExact(evidence, expected)).violations).toHaveLength(KINDS.length);
  world.published = null;
  world.quarantined = [{ firstBlock: 103, cause: 'NODE_ANSWER_MISSING' }];
  expect((await coverageIsExact(evidence, expected)).violations).toHaveLength(1);
});

test('invariant 5 finds blocks that are doubled or lost, and too much that was redone', async () => {
  world.rows.push(bundle('traces', 109, 109));
  expect((await nothingLostOrDoubled(evidence, expected)).violations).toHaveLength(1);
  world.rows = world.rows.slice(1, -1);
  expect((await nothingLostOrDoubled(evidence, expected)).violations).toHaveLength(5);
  world.rows.push(bundle('blocks', 100, 104));
  const redone = { fetchedAgain: 5, disturbances: 1, blocksEach: 4 };
  expect((await nothingLostOrDoubled(evidence, expected, redone)).violations).toHaveLength(1);
});

test('invariant 6 finds a pointer that does not resolve, and one that gives another block', async () => {
  const pointer = { kind: 'logs', block: 101, range: '100-104', link: 'l' } as const;
  const body = world.objects.get('main/logs/100-104.json.gz') as Buffer;
  const check = (status: number, content: Buffer) =>
    pointersResolve([pointer], chain, async () => ({ status, body: content }));
  expect((await check(200, body)).violations).toEqual([]);
  expect((await check(404, body)).violations).toHaveLength(1);
  // No reorganisation took this block away.
  expect((await check(410, body)).violations).toHaveLength(1);
  expect(
    (await check(200, world.objects.get('main/logs/105-109.json.gz') as Buffer)).violations,
  ).toHaveLength(1);
  expect((await check(200, body.subarray(0, 20))).violations).toHaveLength(1);
  const gone = { ...chain, ever: () => [blocks[1], blocks[1]] as typeof blocks };
  expect((await pointersResolve([pointer], gone, async () => ({ status: 410, body }))).violations).toEqual(
    [],
  );
});

test('invariant 7 finds blocks that left staging before their object was readable', () => {
  const well = { kind: 'logs', blocks: 3, problem: null } as const;
  expect(reclaimedAfterReadable([well])).toMatchObject({ checked: 3, violations: [] });
  expect(reclaimedAfterReadable([well, { ...well, problem: 'absent' }]).violations).toEqual(['logs: absent']);
});

test('invariant 8 finds a secret and does not repeat it', () => {
  const { violations } = noSecrets([{ name: 'a log', text: 'password=hunter2!' }], {
    'the password': 'hunter2',
  });
  expect(violations).toEqual(['a log holds the password: …password=***!…']);
  expect(noSecrets([{ name: 'a log', text: 'nothing' }], { 'the password': 'hunter2' }).violations).toEqual(
    [],
  );
});

test('invariant 9 finds a process that grew too large', () => {
  const most = new Map([
    ['ingester-1', 600 * 2 ** 20],
    ['packer-1', 100 * 2 ** 20],
  ]);
  expect(memoryBounded(most, () => 512 * 2 ** 20).violations).toEqual(['ingester-1 had 600 MiB, limit 512']);
});
