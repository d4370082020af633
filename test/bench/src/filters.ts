import {
  deflatePiece,
  distinctDigests,
  type Fragment,
  filterItem,
  filterOfBundle,
  mayHold,
  readFilter,
  spliceMember,
  toDigests,
  toFragment,
} from '@packhouse/bundle';
import { canonicalRecord, type Kind } from '@packhouse/chain';
import type { Recorded } from '@packhouse/recordings';
import { median } from '@packhouse/rig';
import { getOrAdd } from '@packhouse/runtime';
import type { BenchOptions } from './options.js';
import type { BenchOutcome } from './result.js';
import { SOURCE, SOURCE_NAME } from './sample.js';

const RECORDINGS = ['row', 'forks', 'optimism'] as const;
const KINDS = ['logs', 'transactions', 'traces'] as const;
const MAX_ABOVE = 0.02;
const ROUNDS = 9;

interface FilteredFile {
  start: number;
  bytes: number;
  blocks: number;
  filter: Uint8Array;
  /** The blocks that have each. */
  addresses: Map<string, Set<number>>;
  /** CPU of making its filter, in all threads, in milliseconds. */
  buildMs: number;
}

/**
 * Filters of recorded blocks, a file each: what a client that wants one address loads, against the files that have it; and
 * what a filter costs the packer and the store.
 */
export async function benchFilters({ say }: BenchOptions): Promise<BenchOutcome[]> {
  const lines = RECORDINGS.filter(SOURCE.has).flatMap((name) => SOURCE.blocks(name));
  const outcomes: BenchOutcome[] = RECORDINGS.filter((name) => !SOURCE.has(name)).map((name) => ({
    name: `filters of blocks of ${name}`,
    skipped: 'needs RECORDINGS',
  }));
  for (const kind of KINDS) {
    const files: FilteredFile[] = [];
    for (const line of lines) {
      const records = toRecords(kind, line);
      if (records !== undefined && records.length > 0)
        files.push(await getFile(kind, line.number, [records]));
    }
    say(`  ${files.length} files of ${kind}`);
    const first = lines.slice(0, 12).flatMap((line) => {
      const records = toRecords(kind, line);
      return records === undefined ? [] : [records];
    });
    outcomes.push(...measured(kind, files, await getFile(kind, 0, first)));
  }
  return outcomes;
}

function toRecords(kind: Kind, { block, receipts, traces }: Recorded): unknown[] | undefined {
  if (kind === 'logs') return receipts?.flatMap(({ logs }) => logs);
  return kind === 'traces' ? traces : block.transactions;
}

/** A file of these blocks, each with its records. */
async function getFile(kind: Kind, start: number, blocks: readonly unknown[][]): Promise<FilteredFile> {
  const fragments: Fragment[] = [];
  const addresses = new Map<string, Set<number>>();
  for (const [n, records] of blocks.entries()) {
    const text = canonicalRecord(kind, records);
    const piece = await deflatePiece(Buffer.from(text, 'latin1'));
    fragments.push(toFragment({ firstBlock: start + n, lastBlock: start + n }, piece));
    for (const [address] of text.matchAll(MEMBERS[kind] ?? /^$/g)) {
      getOrAdd(addresses, address.slice(-42), () => new Set()).add(start + n);
    }
  }
  const { chunks } = spliceMember(
    fragments,
    fragments.map(({ body }) => body),
  );
  const bytes = Buffer.concat(chunks);
  const times: number[] = [];
  let filter = new Uint8Array();
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = process.cpuUsage();
    filter = Uint8Array.from(await filterOfBundle({ kind, fragments, bytes }));
    const { user, system } = process.cpuUsage(before);
    times.push((user + system) / 1_000);
  }
  return { start, bytes: bytes.length, blocks: blocks.length, filter, addresses, buildMs: median(times) };
}

/** Accounts as the text of a kind's records has them. */
const MEMBERS: Partial<Record<Kind, RegExp>> = {
  logs: /"address":"0x[0-9a-f]{40}/g,
  transactions: /"(?:from|to)":"0x[0-9a-f]{40}(?=")/g,
  traces: /"(?:from|to|address|refundAddress|author)":"0x[0-9a-f]{40}(?=")/g,
};

function measured(kind: Kind, files: readonly FilteredFile[], packed: FilteredFile): BenchOutcome[] {
  const every = new Set(files.flatMap(({ addresses }) => [...addresses.keys()]));
  const singles = loadOf(files, every);
  const own = new Set(packed.addresses.keys());
  const several = loadOf([packed], own);
  const whole = files.reduce((sum, { bytes }) => sum + bytes, 0) * every.size;
  const { needed, loaded } = singles;
  const above = loaded / needed - 1;
  return [
    {
      name: `filters of ${kind}: bytes of parts loaded for one address`,
      value: loaded / every.size / 1_000,
      unit: 'KB',
      yardstick: { name: 'parts that have it', value: needed / every.size / 1_000, unit: 'KB' },
      target: `at most ${MAX_ABOVE * 100} % above`,
      met: above <= MAX_ABOVE,
      note: `each of ${every.size} addresses in ${files.length} files of one of the ${SOURCE_NAME}: ${(above * 100).toFixed(2)} % above, ${((loaded / whole) * 100).toFixed(1)} % of all bytes`,
    },
    {
      name: `filters of ${kind}: share of a file of ${packed.blocks} blocks`,
      value: (100 * several.loaded) / own.size / packed.bytes,
      unit: '%',
      note: `mean of the ${own.size} addresses in it: the parts that may have one, of ${packed.bytes} bytes`,
    },
    {
      name: `filters of ${kind}: bytes of a filter`,
      value: packed.filter.length,
      unit: 'bytes',
      yardstick: { name: 'its file', value: packed.bytes, unit: 'bytes' },
      note: `${packed.blocks} ${SOURCE_NAME} in one file; CPU of making it: ${(packed.buildMs / packed.blocks).toFixed(2)} ms a block, inflating included`,
    },
  ];
}

/** Bytes of the parts that have each address, and of those that may have it by their filters. */
function loadOf(
  files: readonly FilteredFile[],
  every: ReadonlySet<string>,
): { needed: number; loaded: number } {
  const load = { needed: 0, loaded: 0 };
  for (const { filter, start, addresses } of files) {
    const { parts } = readFilter(filter, start);
    for (const address of every) {
      const digests = distinctDigests([toDigests([filterItem(address)])]);
      const blocks = [...(addresses.get(address) ?? [])];
      for (const { items, firstBlock, lastBlock, byteLength } of parts) {
        const has = blocks.some((block) => block >= firstBlock && block <= lastBlock);
        const may = mayHold(items, digests);
        if (has && !may) throw new Error(`the filter of a file does not have ${address}`);
        if (has) load.needed += byteLength;
        if (may) load.loaded += byteLength;
      }
    }
  }
  return load;
}
