import { createRangeCheck, type FragmentInfo, readRecord, sliceOfMember } from '@packhouse/bundle';
import type { Kind } from '@packhouse/chain';
import type { BundleRow } from '@packhouse/database';
import type { BodyCache } from '../cache/body-cache.js';
import { fileDamaged } from '../http/problem.js';
import type { BoundedStore } from './bounded-store.js';
import type { BundleFacts, DamagedFiles } from './damaged-files.js';
import { openBlockFile, type ServedFile } from './served-file.js';

/** What blocks of published bundles are read with. */
export interface PublishedBlockParts {
  store: BoundedStore;
  bodies: BodyCache;
  damaged: DamagedFiles;
}

/** Opens one block of a published bundle. Throws the problem `file-damaged`, and what the store throws. */
export async function openPublishedBlock(
  row: BundleRow,
  block: number,
  parts: PublishedBlockParts,
): Promise<ServedFile> {
  const { fragment, read } = findFragment(row, block, parts);
  const request = { folder: `${row.network}/${row.kind}`, block, fragment, read, immutable: true };
  return openBlockFile(request, parts.bodies).catch((error: unknown) => {
    throw parts.damaged.report(getFacts(row), error) ? fileDamaged() : error;
  });
}

/**
 * The hash of a block of a published bundle: of its row at its ends, or as the records of the block have it. Null: the
 * block has no records of this kind. Throws as `openPublishedBlock`.
 */
export async function readPublishedHash(
  row: BundleRow,
  block: number,
  parts: PublishedBlockParts,
): Promise<string | null> {
  if (block === row.firstBlock) return row.firstHash;
  if (block === row.lastBlock) return row.lastHash;
  const { fragment, read } = findFragment(row, block, parts);
  try {
    return hashIn(row.kind, await readRecord({ fragment, body: await read(), block }));
  } catch (error) {
    throw parts.damaged.report(getFacts(row), error) ? fileDamaged() : error;
  }
}

const MEMBER = '"blockHash":"';
/** Characters of a hash. */
const HASH = 66;

/** Bundles have canonical JSON, in which the first `blockHash` of a list is that of its block. */
function hashIn(kind: Kind, record: Buffer): string | null {
  if (kind === 'blocks') return (JSON.parse(record.toString()) as { hash: string }).hash;
  const at = record.indexOf(MEMBER);
  return at < 0 ? null : record.toString('latin1', at + MEMBER.length, at + MEMBER.length + HASH);
}

/** The fragment that holds a block, and what reads its body. */
function findFragment(
  row: BundleRow,
  block: number,
  { store, bodies }: Pick<PublishedBlockParts, 'store' | 'bodies'>,
): { fragment: FragmentInfo; read(): Promise<Buffer> } {
  const { range, fragments } = sliceOfMember(row.fragments, block, block);
  const [fragment] = fragments;
  if (fragment === undefined) throw new Error(`no fragment of ${row.objectKey} holds block ${block}`);
  const read = async (): Promise<Buffer> => {
    const cached = bodies.peek(row.objectKey)?.subarray(range.start, range.end + 1);
    if (cached !== undefined) return cached;
    const bytes = await store.read(row.objectKey, range);
    // Where the block shares its fragment, its record is read out of the text, which is checked then.
    if (fragment.firstBlock !== fragment.lastBlock) return bytes;
    const check = createRangeCheck(row.fragments, range, { maxExtraBytes: 0, bodies: new Map() });
    await check.push(bytes);
    check.finish();
    return bytes;
  };
  return { fragment, read };
}

/** The part of a row that serving its file needs. */
export function getFacts(row: BundleRow): BundleFacts {
  const { network, kind, firstBlock, lastBlock, version, objectKey, byteLength, sha256 } = row;
  return { network, kind, firstBlock, lastBlock, version, objectKey, byteLength, sha256 };
}
