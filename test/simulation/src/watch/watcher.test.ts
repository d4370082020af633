import { createHash } from 'node:crypto';
import { type BlockRange, KINDS } from '@packhouse/chain';
import type { BundleRow, Database } from '@packhouse/database';
import { generateChain } from '@packhouse/replay-node';
import { beforeEach, expect, test } from 'vitest';
import { fixedChain } from '../chain/fixed-chain.js';
import { startWatcher, type Watcher } from './watcher.js';

const blocks = generateChain({ length: 12, txsPerBlock: 1, logsPerTx: 1, tracesPerTx: 1, startNumber: 100 });
/** Of the blocks 100 to 111 the chain has 109 and all below it as final. */
const chain = fixedChain(blocks, 109);

let staged: BlockRange;
let bundles: BundleRow[];
let objects: Map<string, Buffer>;
/** The newest block that the system has noted as final. */
let noted: number;
let watcher: Watcher;

beforeEach(async () => {
  staged = { firstBlock: 100, lastBlock: 111 };
  bundles = [];
  objects = new Map();
  noted = 105;
  const ofNetwork = {
    head: { get: async () => ({ finalized: noted }) },
    coverage: async () => ({ staged: [staged] }),
    bundles: { list: async () => bundles },
    staging: {
      blocks: async () =>
        blocks
          .filter(({ number }) => staged.firstBlock <= number && number <= staged.lastBlock)
          .map(({ number, block }) => ({ number, hash: block.hash })),
    },
  };
  const database = { network: () => ofNetwork } as unknown as Database;
  watcher = startWatcher({
    database,
    network: 'main',
    chain,
    readObject: (key) => objects.get(key) ?? null,
  });
  // Only the looks of the test count from here on.
  await watcher.stop();
  await watcher.look();
});

test('blocks that the system does not know as final may be dropped by a reorganisation, though the chain has them as final', async () => {
  staged = { firstBlock: 100, lastBlock: 105 };
  await watcher.look();
  expect(watcher.vanished()).toEqual([]);
});

test('a block that the system has noted as final may not leave staging before a bundle holds it', async () => {
  staged = { firstBlock: 100, lastBlock: 104 };
  await watcher.look();
  const problem = 'block 105 left staging and no bundle holds it';
  expect(watcher.vanished()).toEqual(KINDS.map((kind) => ({ kind, blocks: 1, problem })));
});

test('finality that the system notes between two looks counts from the next one on', async () => {
  noted = 109;
  staged = { firstBlock: 100, lastBlock: 108 };
  await watcher.look();
  expect(watcher.vanished()).toEqual([]);
  staged = { firstBlock: 100, lastBlock: 107 };
  await watcher.look();
  expect(watcher.vanished()[0]).toMatchObject({ blocks: 1, problem: expect.stringContaining('block 108') });
});

test('what is reclaimed after its object was readable is well, and an object that is missing or another is named', async () => {
  const body = Buffer.from('the bundle');
  const sha256 = createHash('sha256').update(body).digest('hex');
  bundles = [{ objectKey: 'a', sha256, firstBlock: 100, lastBlock: 101 } as BundleRow];
  objects.set('a', body);
  staged = { firstBlock: 102, lastBlock: 111 };
  await watcher.look();
  expect(watcher.vanished()[0]).toEqual({ kind: 'blocks', blocks: 2, problem: null });
  bundles.push({ objectKey: 'b', sha256: 'of b', firstBlock: 102, lastBlock: 102 } as BundleRow);
  staged = { firstBlock: 103, lastBlock: 111 };
  await watcher.look();
  expect(watcher.vanished().at(-1)?.problem).toBe('block 102 left staging while b was absent, expected of b');
});
