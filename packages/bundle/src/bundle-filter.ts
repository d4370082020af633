import type { Kind } from '@packhouse/chain';
import { createItemCollector, type ItemCollector } from './filter-items.js';
import { bundleInvalid, type FragmentInfo } from './fragment.js';
import { MEMBER_HEAD_BYTES, memberFrame, SEPARATOR_BYTES } from './member-frame.js';
import { streamElements } from './read-bundle.js';
import { readFragmentText } from './read-fragments.js';
import { scanItems } from './scan-items.js';
import { buildSkipFilter, mayContain } from './skip-filter.js';
import { spliceMember } from './splice-member.js';

/** The record of one block that is larger than this is parsed element by element. */
const LARGE_BYTES = 4_194_304;

const OPEN = Buffer.from('[');
const CLOSE = Buffer.from(']');

interface FilteredBundle {
  kind: Kind;
  fragments: readonly FragmentInfo[];
  /** The file. */
  bytes: Buffer;
}

/** The filter of a bundle of a kind that has filters (see docs/formats.md). Throws BUNDLE_INVALID. */
export async function filterOfBundle(bundle: FilteredBundle): Promise<Uint8Array> {
  return buildSkipFilter((await itemsOf(bundle)).items());
}

/** Whether a filter contains every item of a bundle, as the one that was made for it does. Throws BUNDLE_INVALID. */
export async function filterFits(filter: Uint8Array, bundle: FilteredBundle): Promise<boolean> {
  for (const item of (await itemsOf(bundle)).items()) {
    if (!mayContain(filter, item)) return false;
  }
  return true;
}

async function itemsOf({ kind, fragments, bytes }: FilteredBundle): Promise<ItemCollector> {
  if (bytes.length !== memberFrame(fragments).byteLength) {
    throw bundleInvalid(`A bundle of ${bytes.length} bytes is not the one of its fragment table.`);
  }
  const collector = await createItemCollector(kind);
  let position = MEMBER_HEAD_BYTES;
  for (const fragment of fragments) {
    const body = bytes.subarray(position, position + fragment.byteLength);
    position += fragment.byteLength + SEPARATOR_BYTES;
    if (fragment.startBlock === fragment.endBlock && fragment.rawLength > LARGE_BYTES) {
      for await (const element of streamElements(piecesOf(fragment, body))) collector.add(parse(element));
      continue;
    }
    // Whole, not cut into its records first: that would cost as much as parsing.
    const text = await readFragmentText({ fragment, body });
    if (scanItems(kind, text.toString('latin1'), collector.found)) continue;
    const records = parse(Buffer.concat([OPEN, text, CLOSE])) as unknown[];
    if (records.length !== fragment.endBlock - fragment.startBlock + 1) {
      throw bundleInvalid(`A fragment of ${kind} has ${records.length} records.`);
    }
    for (const record of records) {
      if (!Array.isArray(record)) throw bundleInvalid(`A record of ${kind} is no array.`);
      for (const element of record) collector.add(element);
    }
  }
  return collector;
}

async function* piecesOf(fragment: FragmentInfo, body: Buffer): AsyncGenerator<Buffer> {
  yield* spliceMember([fragment], [body]).chunks;
}

function parse(text: Buffer): unknown {
  try {
    return JSON.parse(text.toString('latin1'));
  } catch (error) {
    throw bundleInvalid('A record is not JSON.', error);
  }
}
