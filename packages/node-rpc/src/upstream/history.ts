import type { Upstream } from '@packhouse/networks';
import type { Clock } from '@packhouse/runtime';

/** What a node may delete by itself. */
type Group = 'state' | 'receipts' | 'logs' | 'transactions';

const GROUPS: ReadonlyMap<string, Group> = new Map([
  ['eth_call', 'state'],
  ['eth_getStorageAt', 'state'],
  ['eth_getBalance', 'state'],
  ['eth_getCode', 'state'],
  ['eth_getTransactionCount', 'state'],
  ['eth_estimateGas', 'state'],
  ['eth_getBlockReceipts', 'receipts'],
  ['eth_getLogs', 'logs'],
  ['eth_getBlockByNumber', 'transactions'],
  ['eth_getTransactionByBlockNumberAndIndex', 'transactions'],
]);

/** The blocks that a call depends on: the highest, and the lowest if that is another one. */
interface Request {
  method: string;
  block?: number | 'tip';
  from?: number;
}

/** The oldest blocks of one upstream. */
export type History = ReturnType<typeof createHistory>;

/** A node may be replaced by one with more. */
const FORGET_MS = 600_000;

/** Creates the history of an upstream: what is declared, and nothing learnt yet. An archive learns nothing. */
export function createHistory(
  { archive, oldest }: Pick<Upstream, 'archive' | 'oldest'>,
  { elapsed }: Pick<Clock, 'elapsed'>,
) {
  const learnt = new Map<Group, { oldest: number; at: number }>();
  return {
    /** Whether it lacks a block of the call: as its operator declared, or as it said itself a while ago. */
    lacks(request: Request): 'declared' | 'learnt' | false {
      if (oldest === undefined && learnt.size === 0) return false;
      const [group, block] = [GROUPS.get(request.method), getOldest(request)];
      if (group === undefined || block === undefined) return false;
      if (block < (oldest?.[group] ?? 0)) return 'declared';
      const known = learnt.get(group);
      if (known === undefined) return false;
      if (elapsed() - known.at < FORGET_MS) return block < known.oldest && 'learnt';
      learnt.delete(group);
      return false;
    },
    /** What it lacks, in words. */
    describe(): string[] {
      const declared = Object.entries(oldest ?? {}).map(
        ([group, from]) => `${group} below ${from}, as declared`,
      );
      const said = [...learnt]
        .filter(([, { at }]) => elapsed() - at < FORGET_MS)
        .map(([group, known]) => `${group} below ${known.oldest}, as it said`);
      return [...declared, ...said];
    },
    /** Notes that it said that it has deleted what the call asks for. */
    pruned(request: Request): void {
      const [group, block] = [GROUPS.get(request.method), getOldest(request)];
      if (archive === true || group === undefined || block === undefined) return;
      const before = learnt.get(group);
      learnt.set(group, { oldest: Math.max(before?.oldest ?? 0, block + 1), at: before?.at ?? elapsed() });
    },
  };
}

/** The oldest block of a call; undefined if it names none. */
function getOldest({ block, from }: Request): number | undefined {
  return from ?? (typeof block === 'number' ? block : undefined);
}
