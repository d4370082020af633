import type { Kind } from '@packhouse/chain';
import { withTimes } from './filter/block-times.js';
import { createItemCollector, hasFilter } from './filter/filter-items.js';
import { FIRST_SEED, toDigests } from './filter/item-digests.js';
import { scanItems } from './filter/scan-items.js';
import { filterOfDigests, getSeed, isOpen, mayContainAll, openFilter, SEEDS } from './filter/skip-filter.js';
import { bundleInvalid, type FragmentInfo } from './layout/fragment.js';
import { MEMBER_HEAD_BYTES, memberFrame, SEPARATOR_BYTES } from './layout/member-frame.js';
import { streamElements } from './read-bundle.js';
import { readFragmentText } from './read-fragments.js';
import { spliceMember } from './splice-member.js';

/** The record of one block that is larger than this is parsed element by element. */
const LARGE_BYTES = 4_194_304;

interface FilteredBundle {
  kind: Kind;
  fragments: readonly FragmentInfo[];
  /** The file. */
  bytes: Buffer;
}

/** What is known of a bundle beside its bytes. */
interface Known {
  /** The items of its fragments as they were found when those were made (Piece.items); null is found in the file. */
  items?: readonly (Uint8Array | null)[];
  /** When its blocks are of, in seconds since 1970; null: the filter has no times. */
  times?: readonly number[] | null;
}

/** The filter of a bundle (see docs/formats.md). One of a kind without items has the times alone. Throws BUNDLE_INVALID. */
export async function filterOfBundle(bundle: FilteredBundle, known: Known = {}): Promise<Uint8Array> {
  const { items = [], times = null } = known;
  const filter = hasFilter(bundle.kind) ? await filterOfItems(bundle, items) : openFilter();
  return times === null ? filter : withTimes(filter, times);
}

async function filterOfItems(
  bundle: FilteredBundle,
  known: readonly (Uint8Array | null)[],
): Promise<Uint8Array> {
  for (let seed = FIRST_SEED; seed < SEEDS; seed += 1) {
    const filter = filterOfDigests(await digestsIn(bundle, seed, seed === FIRST_SEED ? known : []), seed);
    if (filter !== null) return filter;
  }
  throw new Error(`no seed gives a filter of the ${bundle.bytes.length} bytes of a bundle`);
}

/** Whether a filter contains every item of a bundle, as the one that was made for it does. Throws BUNDLE_INVALID. */
export async function filterFits(filter: Uint8Array, bundle: FilteredBundle): Promise<boolean> {
  const seed = getSeed(filter);
  return isOpen(filter) || mayContainAll(filter, await digestsIn(bundle, seed, []));
}

/** The digests of the items of each fragment, by a seed. */
async function digestsIn(
  { kind, fragments, bytes }: FilteredBundle,
  seed: number,
  known: readonly (Uint8Array | null)[],
): Promise<Uint8Array[]> {
  if (bytes.length !== memberFrame(fragments).byteLength) {
    throw bundleInvalid(`A bundle of ${bytes.length} bytes is not the one of its fragment table.`);
  }
  const lists: Uint8Array[] = [];
  let position = MEMBER_HEAD_BYTES;
  for (const [index, fragment] of fragments.entries()) {
    const body = bytes.subarray(position, position + fragment.byteLength);
    position += fragment.byteLength + SEPARATOR_BYTES;
    lists.push(known[index] ?? (await digestsInFragment(kind, fragment, body, seed)));
  }
  return lists;
}

async function digestsInFragment(
  kind: Kind,
  fragment: FragmentInfo,
  body: Buffer,
  seed: number,
): Promise<Uint8Array> {
  if (fragment.firstBlock === fragment.lastBlock && fragment.rawLength > LARGE_BYTES) {
    const collector = await createItemCollector(kind);
    for await (const element of streamElements(getPieces(fragment, body))) collector.add(parse(element));
    return toDigests(collector.items(), seed);
  }
  // Whole, not cut into its records first: that would cost as much as parsing.
  const text = await readFragmentText({ fragment, body });
  const scanned = scanItems(kind, text, seed);
  if (scanned !== null) return scanned;
  const collector = await createItemCollector(kind);
  const records = parse(Buffer.concat([Buffer.from('['), text, Buffer.from(']')])) as unknown[];
  if (records.length !== fragment.lastBlock - fragment.firstBlock + 1) {
    throw bundleInvalid(`A fragment of ${kind} has ${records.length} records.`);
  }
  for (const record of records) {
    if (!Array.isArray(record)) throw bundleInvalid(`A record of ${kind} is no array.`);
    for (const element of record) collector.add(element);
  }
  return toDigests(collector.items(), seed);
}

async function* getPieces(fragment: FragmentInfo, body: Buffer): AsyncGenerator<Buffer> {
  yield* spliceMember([fragment], [body]).chunks;
}

function parse(text: Buffer): unknown {
  try {
    return JSON.parse(text.toString('latin1'));
  } catch (error) {
    throw bundleInvalid('A record is not JSON.', error);
  }
}
