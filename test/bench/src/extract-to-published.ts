import { measureFloor } from './floor.js';
import { runLocal, startReplay } from './processes.js';
import type { BenchOutcome } from './result.js';
import { samples } from './sample.js';

/** Blocks of a run: long enough that starting up does not count. */
const LENGTH = 360;

/** extract → published, all five kinds, all proofs, Postgres and store included, against the floor. */
export async function benchExtractToPublished(): Promise<BenchOutcome[]> {
  const outcomes: BenchOutcome[] = [];
  for (const sample of await samples()) {
    const floor = await measureFloor(sample.blocks);
    const node = await startReplay([...sample.replayArgs, '--extend', String(LENGTH)]);
    try {
      const run = await runLocal([
        '--rpc',
        node.url,
        '--from',
        String(node.first),
        '--to',
        String(node.last),
      ]);
      const blocksPerSecond = LENGTH / run.seconds;
      outcomes.push({
        name: `extract to published, ${sample.name}`,
        value: blocksPerSecond,
        unit: 'blocks/s',
        yardstick: { name: 'floor', value: floor.blocksPerSecond, unit: 'blocks/s' },
        target: 'at least 60 % of the floor',
        met: blocksPerSecond >= 0.6 * floor.blocksPerSecond,
        note:
          `CPU a block: parse ${floor.parseMs.toFixed(1)}, stringify ${floor.stringifyMs.toFixed(1)}, deflate ` +
          `${floor.deflateMs.toFixed(1)}, proofs ${floor.proveMs.toFixed(1)} ms; ${(run.bytes / 1e6).toFixed(1)} MB of bundles`,
      });
      outcomes.push(...memoryOutcome(`memory of the ingester, ${sample.name}`, run.peakBytes.ingester));
      await run.remove();
    } finally {
      await node.stop();
    }
  }
  return outcomes;
}

/** The ingester's peak against its budget; nothing where it could not be read. */
export function memoryOutcome(name: string, peakBytes: number | undefined): BenchOutcome[] {
  if (peakBytes === undefined) return [{ name, skipped: 'no /proc on this system' }];
  const value = peakBytes / 1e6;
  return [{ name, value, unit: 'MB peak', target: 'under 512 MB', met: value < 512 }];
}
