import type { Kind } from '@packhouse/chain';
import type { AlarmRow, Database, HoleCounts, NetworkStanding } from '@packhouse/database';
import type { QueueReader } from '@packhouse/queue';
import { type Clock, getOrAdd } from '@packhouse/runtime';
import { COMES } from './hole-reasons.js';
import { networkReport } from './network-report.js';

/** One kind of a network, and how fast it comes. */
interface KindOverview extends Omit<NetworkStanding['kinds'][number], 'newest'> {
  /** Published in the last minutes that this process looked; null: it has looked once. */
  blocksPerSecond: number | null;
  bytesPerSecond: number | null;
  /** Seconds until all that is requested and final is published, at this rate; null: unknown, or nothing is left. */
  etaSeconds: number | null;
}

/** A network in one row. */
export interface NetworkOverview extends Omit<NetworkStanding, 'kinds'> {
  kinds: KindOverview[];
  quarantinedBlocks: number;
  alarms: Pick<AlarmRow, 'name' | 'message' | 'raisedAt'>[];
}

/** All networks in a few statements, for pages that stay open. */
export interface Overview {
  look(): Promise<NetworkOverview[]>;
}

/** Rates are of so many milliseconds: bundles are published one at a time, minutes apart. */
const WINDOW_MS = 300_000;
/** A sample for the window is kept every so many milliseconds. */
const SAMPLE_MS = 5_000;
/** How long a count of what is left serves, in milliseconds. */
const LEFT_MS = 10_000;
/** Alarms of a network that are told. */
const MAX_ALARMS = 10;

interface Sample {
  atMs: number;
  blocks: number;
  bytes: number;
}

/**
 * Creates an overview, which remembers what was published at its looks of the last five minutes. A look takes three
 * statements, and one more each ten seconds for each network of which something was published in this time.
 */
export function createOverview({
  clock,
  database,
  queue,
}: {
  clock: Pick<Clock, 'elapsed'>;
  database: Database;
  queue?: Pick<QueueReader, 'peek'> | undefined;
}): Overview {
  const samples = new Map<string, Sample[]>();
  const counted = new Map<string, { atMs: number; left: ReadonlyMap<Kind, number> }>();

  /** Blocks and bytes a second since the oldest sample of the window. */
  const rate = (name: string, now: Sample): { blocks: number; bytes: number } | null => {
    const list = getOrAdd(samples, name, () => []);
    while (list.length > 1 && (list[1] as Sample).atMs <= now.atMs - WINDOW_MS) list.shift();
    const [first] = list;
    const last = list.at(-1);
    if (last === undefined || now.atMs - last.atMs >= SAMPLE_MS) list.push(now);
    if (first === undefined || now.atMs <= first.atMs) return null;
    const seconds = (now.atMs - first.atMs) / 1_000;
    return {
      blocks: Math.max(0, (now.blocks - first.blocks) / seconds),
      bytes: Math.max(0, (now.bytes - first.bytes) / seconds),
    };
  };

  const countBlocksLeft = async (network: string, atMs: number): Promise<ReadonlyMap<Kind, number>> => {
    const there = counted.get(network);
    if (there !== undefined && atMs - there.atMs < LEFT_MS) return there.left;
    const { finalHoles } = await networkReport({ database, queue }, network, ['finalHoles']);
    const count = ({ missing }: HoleCounts): number =>
      COMES.reduce((sum, reason) => sum + (missing[reason] ?? 0), 0);
    const left = new Map(finalHoles.map((holes) => [holes.kind, count(holes)]));
    counted.set(network, { atMs, left });
    return left;
  };

  return {
    async look() {
      const [standings, alarms, quarantined] = await Promise.all([
        database.standings(),
        database.alarms.list(),
        database.quarantine.causes(),
      ]);
      const atMs = clock.elapsed();
      const found: NetworkOverview[] = [];
      for (const { kinds, ...standing } of standings) {
        const { network } = standing;
        const rates = kinds.map(({ kind, blocks, bytes }) =>
          rate(`${network}/${kind}`, { atMs, blocks, bytes }),
        );
        const moves = rates.some((each) => each !== null && each.blocks > 0);
        const left = moves ? await countBlocksLeft(network, atMs) : new Map<Kind, number>();
        found.push({
          ...standing,
          kinds: kinds.map(({ newest: _, ...kind }, at) => {
            const { blocks = null, bytes = null } = rates[at] ?? {};
            const toDo = left.get(kind.kind) ?? 0;
            return {
              ...kind,
              blocksPerSecond: blocks,
              bytesPerSecond: bytes,
              etaSeconds: toDo > 0 && blocks !== null && blocks > 0 ? toDo / blocks : null,
            };
          }),
          quarantinedBlocks: quarantined
            .filter((each) => each.network === network)
            .reduce((sum, each) => sum + each.blocks, 0),
          alarms: alarms
            .filter((each) => each.network === network)
            .slice(0, MAX_ALARMS)
            .map(({ name, message, raisedAt }) => ({ name, message, raisedAt })),
        });
      }
      return found;
    },
  };
}
