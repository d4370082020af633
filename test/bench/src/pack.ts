import path from 'node:path';
import { promisify } from 'node:util';
import { constants, gunzip, gzip } from 'node:zlib';
import { KINDS } from '@packhouse/chain';
import type { BundleRow } from '@packhouse/database';
import { runSql } from '@packhouse/local';
import { createDiskStore, type ObjectStore } from '@packhouse/object-store';
import { median, startReplay, withScope } from '@packhouse/rig';
import type { BenchOptions } from './options.js';
import { oneNetwork, openPlace, type Place } from './place.js';
import { publishKinds } from './publish-all.js';
import type { BenchOutcome } from './result.js';
import { samples } from './sample.js';
import { stageChain } from './stage-chain.js';

/** Staged blocks: some 40 bundles of modern blocks. */
const BLOCKS = 60;
const ROUNDS = 5;
const TARGET = 10;

const unzip = promisify(gunzip);
const zip = promisify(gzip);

/**
 * pack → published, from staged, against gunzip + gzip of the same bundles.
 *
 * One kind after another, as one packer takes them, with its concurrent bundles; the reference takes one bundle after
 * another. Packing is everything from the first query of Postgres to the last index row with its signed entry,
 * including the disk store's fsync and read-back.
 */
export async function benchPack({ say }: BenchOptions): Promise<BenchOutcome[]> {
  const outcomes: BenchOutcome[] = [];
  for (const sample of samples()) {
    await withScope(async (scope) => {
      const place = await openPlace(scope);
      const node = await startReplay(scope, [...sample.replayArgs, '--extend', String(BLOCKS)]);
      const { network } = oneNetwork(node.url);
      await stageChain(place, network, { from: node.first, to: node.last });
      say(`  ${sample.name}: ${BLOCKS} blocks staged`);
      const rounds: { packMs: number; regzipMs: number; levelFourMs: number }[] = [];
      let bundles: Buffer[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        const store = await createDiskStore({ directory: path.join(place.directory, `objects-${round}`) });
        // The staged blocks can be packed again.
        await runSql(place.url, 'DELETE FROM packhouse.bundle');
        const startedAt = performance.now();
        await publishKinds(place, network, store);
        const packMs = performance.now() - startedAt;
        bundles = await readAll(place, network.id, store);
        rounds.push({
          packMs,
          regzipMs: await regzip(bundles, constants.Z_DEFAULT_COMPRESSION),
          levelFourMs: await regzip(bundles, 4),
        });
      }
      outcomes.push(...describe(sample.name, rounds, bundles));
    });
  }
  return outcomes;
}

function describe(
  name: string,
  rounds: readonly { packMs: number; regzipMs: number; levelFourMs: number }[],
  bundles: readonly Buffer[],
): BenchOutcome[] {
  const megabytes = bundles.reduce((sum, bundle) => sum + bundle.length, 0) / 1e6;
  const perSecond = (ms: number): number => (megabytes * 1000) / ms;
  const packMs = median(rounds.map((round) => round.packMs));
  const line = (yardstick: string, ms: number): BenchOutcome => ({
    name: `pack to published, ${name}`,
    value: perSecond(packMs),
    unit: 'MB/s of gzip',
    yardstick: { name: yardstick, value: perSecond(ms), unit: 'MB/s' },
  });
  const regzipMs = median(rounds.map((round) => round.regzipMs));
  return [
    {
      ...line('gunzip + gzip', regzipMs),
      target: `${TARGET}x`,
      met: regzipMs >= TARGET * packMs,
      note: `${bundles.length} bundles, ${megabytes.toFixed(1)} MB, one kind after the other against one bundle after the other; ${(packMs / bundles.length).toFixed(1)} ms a bundle with its row and its fsyncs, median of ${rounds.length} rounds`,
      data: { rounds },
    },
    line('gunzip + gzip of level 4', median(rounds.map((round) => round.levelFourMs))),
  ];
}

async function readAll({ database }: Place, network: string, store: ObjectStore): Promise<Buffer[]> {
  const bodies: Buffer[] = [];
  for (const kind of KINDS) {
    const rows: BundleRow[] = await database.network(network).bundles.list(kind, 0, 1_000);
    for (const row of rows) bodies.push(await store.read(row.objectKey));
  }
  return bodies;
}

/** Milliseconds of decompressing and compressing every bundle again. */
async function regzip(bundles: readonly Buffer[], level: number): Promise<number> {
  const startedAt = performance.now();
  for (const bundle of bundles) await zip(await unzip(bundle), { level });
  return performance.now() - startedAt;
}
