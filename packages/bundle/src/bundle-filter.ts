import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Kind } from '@packhouse/chain';
import { isPackhouseError } from '@packhouse/runtime';
import { encodeTimes } from './filter/block-times.js';
import { type BundleFilter, encodeFilter, type FilteredPart, readFilter } from './filter/filter-file.js';
import { createItemCollector, hasFilter } from './filter/filter-items.js';
import { buildItemSet, distinctDigests, mayHold, OPEN_SET, toDigests } from './filter/item-set.js';
import { scanItems } from './filter/scan-items.js';
import { bundleInvalid, type FragmentInfo } from './layout/fragment.js';
import { crc32Combine, MEMBER_HEAD_BYTES, memberFrame, SEPARATOR_BYTES } from './layout/member-frame.js';
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

/** The filter of a bundle (see docs/formats.md): an object. Throws BUNDLE_INVALID. */
export async function filterOfBundle(bundle: FilteredBundle, known: Known = {}): Promise<Buffer> {
  const { items = [], times = null } = known;
  const filtered = hasFilter(bundle.kind);
  const parts: FilteredPart[] = [];
  for await (const { digests, ...part } of readParts(bundle, items)) {
    parts.push({ ...part, items: filtered ? buildItemSet(digests) : OPEN_SET });
  }
  return encodeFilter(parts, encodeTimes(times ?? []));
}

/** Whether a filter describes a bundle: its parts are those of the file, and hold every item. Throws BUNDLE_INVALID. */
export async function filterFits(filter: Uint8Array, bundle: FilteredBundle): Promise<boolean> {
  const filtered = readIfValid(filter, bundle)?.parts ?? [];
  let nth = 0;
  for await (const { digests, sha256, ...part } of readParts(bundle, [])) {
    const own = filtered[nth++];
    if (own === undefined || !isSamePart(own, { ...part, sha256 })) return false;
    if (!mayHold(own.items, distinctDigests(digests))) return false;
  }
  return nth === filtered.length;
}

function isSamePart(one: Omit<Part, 'digests'>, other: Omit<Part, 'digests'>): boolean {
  const numbers = ['firstBlock', 'lastBlock', 'byteLength', 'rawLength', 'crc32'] as const;
  return numbers.every((name) => one[name] === other[name]) && one.sha256.equals(other.sha256);
}

function readIfValid(filter: Uint8Array, { fragments }: FilteredBundle): BundleFilter | null {
  try {
    return readFilter(filter, fragments[0]?.firstBlock ?? 0);
  } catch (error) {
    if (isPackhouseError(error, 'BUNDLE_INVALID')) return null;
    throw error;
  }
}

interface Part extends FragmentInfo {
  sha256: Buffer;
  /** The digests of the items of its fragments; none of a kind without items. */
  digests: Uint8Array[];
}

/** The parts of a bundle, with digests that are known or found in the text of its fragments. */
async function* readParts(
  { kind, fragments, bytes }: FilteredBundle,
  known: readonly (Uint8Array | null)[],
): AsyncGenerator<Part> {
  if (bytes.length !== memberFrame(fragments).byteLength) {
    throw bundleInvalid(`A bundle of ${bytes.length} bytes is not the one of its fragment table.`);
  }
  let [position, index] = [MEMBER_HEAD_BYTES, 0];
  for (const run of groupParts(fragments)) {
    const part = joinFragments(run);
    const sha256 = hash('sha256', bytes.subarray(position, position + part.byteLength), 'buffer');
    const digests: Uint8Array[] = [];
    for (const fragment of run) {
      const body = bytes.subarray(position, position + fragment.byteLength);
      position += fragment.byteLength + SEPARATOR_BYTES;
      const own = known[index++];
      if (hasFilter(kind)) digests.push(own ?? (await digestsInFragment(kind, fragment, body)));
    }
    yield { ...part, sha256, digests };
  }
}

async function digestsInFragment(kind: Kind, fragment: FragmentInfo, body: Buffer): Promise<Uint8Array> {
  if (fragment.firstBlock === fragment.lastBlock && fragment.rawLength > LARGE_BYTES) {
    const collector = await createItemCollector(kind);
    for await (const element of streamElements(getPieces(fragment, body))) collector.add(parse(element));
    return toDigests(collector.items());
  }
  // Whole, not cut into its records first: that would cost as much as parsing.
  const text = await readFragmentText({ fragment, body });
  const scanned = scanItems(kind, text);
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
  return toDigests(collector.items());
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

/** Bytes at which a part is closed: what a filter keeps of one should be little beside it. */
const PART_BYTES = 16_384;

/** The fragments of a bundle by the parts that can be loaded by themselves: at least 16 KiB each, but for the last. */
function groupParts(fragments: readonly FragmentInfo[]): FragmentInfo[][] {
  const parts: FragmentInfo[][] = [];
  let bytes = PART_BYTES;
  for (const fragment of fragments) {
    if (bytes >= PART_BYTES) {
      parts.push([]);
      bytes = 0;
    }
    parts.at(-1)?.push(fragment);
    bytes += fragment.byteLength;
  }
  return parts;
}

/** Fragments that follow each other as one, whose body has the separators between them. */
function joinFragments([first, ...others]: readonly FragmentInfo[]): FragmentInfo {
  const joined = { ...(first as FragmentInfo) };
  for (const { lastBlock, byteLength, rawLength, crc32: crc } of others) {
    joined.crc32 = crc32Combine(crc32(',', joined.crc32), crc, rawLength);
    joined.rawLength += 1 + rawLength;
    joined.byteLength += SEPARATOR_BYTES + byteLength;
    joined.lastBlock = lastBlock;
  }
  return joined;
}
