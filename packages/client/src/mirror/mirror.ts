import { existsSync, statSync } from 'node:fs';
import { rm, rmdir, statfs } from 'node:fs/promises';
import path from 'node:path';
import { type BlockRange, type Kind, subtractRanges } from '@packhouse/chain';
import { isPackhouseError, makeFolder, PackhouseError } from '@packhouse/runtime';
import type { Gateway } from '../fetch/http.js';
import { holesIn } from '../manifest/bundle-rows.js';
import { ALL_BLOCKS } from '../manifest/known-parts.js';
import { HEAD_FILE, type ManifestCopy, openManifestCopy } from '../manifest/manifest-copy.js';
import { newState, type PullState, readState, STATE_FILE, writeState } from '../manifest/pull-state.js';
import { KEYS_FILE, type Trust, trustedKeys } from '../manifest/trust.js';
import { blockDates } from './block-dates.js';
import { type DoneMarks, MARKS_FILE, openDoneMarks } from './done-marks.js';
import { type Hole, holesWithReasons, nothingPublished } from './list-published.js';
import { type Bound, resolveRange } from './range.js';

/** Bytes of the disk that stay free. */
const RESERVE = 16_777_216;
/** Bytes of files that are removed after use: more are hardly there at a time. */
const PASSING = 1_073_741_824;

interface MirrorOptions extends Gateway {
  folder: string;
  /** In place of that of the folder; it stays open. */
  log?: OpenLog | undefined;
  kind: Kind;
  /** Public keys to trust, in place of those of the gateway. */
  trustKeyFile?: string | undefined;
  signal: AbortSignal;
}

/** Which blocks are wanted. */
interface Wanted {
  from?: Bound | undefined;
  to?: Bound | undefined;
  /** Holes and the end of the plan of the key are no errors. */
  partial?: boolean | undefined;
  /** Blocks whose files are not needed any more: ascending, not touching. */
  has?: readonly BlockRange[] | undefined;
  /** Files are removed after use, so that all of them are never on the disk at once. */
  passing?: boolean | undefined;
  /** Files that are in the folder are hashed again. */
  check?: boolean | undefined;
  /** The whole manifest is checked, in place of the entries of the range. */
  wholeManifest?: boolean | undefined;
}

/** The manifest of one kind as far as it is known, and who is trusted to sign it. */
export interface OpenLog {
  readonly state: PullState;
  readonly trust: Trust;
  readonly manifest: ManifestCopy;
}

/** A folder of downloaded bundles of one kind, with its checked manifest. One process may have it open at a time. */
export interface Mirror extends OpenLog {
  readonly options: MirrorOptions;
  readonly done: DoneMarks;
  close(): Promise<void>;
}

/** What a pull has to do. */
export interface MirrorPlan {
  /** The blocks asked for, or what the plan of the key allows of them. */
  range: BlockRange;
  network: string;
  /** Rows of the manifest, ascending by block; files at the ends reach beyond the range. */
  rows: Uint32Array;
  /** Whether each of them is in the folder already, unchanged since it was checked. */
  present: Uint8Array;
  /** Those are hashed again. */
  check: boolean;
  /** Whether each of them is left out, because it holds nothing that is wanted; absent: none is. */
  skip?: Uint8Array;
  skippedFiles?: number;
  /** Of those files of which only parts are loaded, by their places in `rows`: the parts, for `unpackParts`. */
  parts?: ReadonlyMap<number, Buffer>;
  /** The times of blocks as filters have them, by the first blocks of files, of those that were chosen by filters. */
  times?: ReadonlyMap<number, Uint8Array>;
  /** Without those that are left out. */
  files: number;
  bytes: number;
  presentFiles: number;
  presentBytes: number;
  /** The first holes, with reasons. */
  holes: Hole[];
  /** The last block of the plan of the key, if it cuts the range. */
  limitedTo: number | null;
}

/** Opens the manifest of a kind in a folder, or in memory (`folder` null). Throws as `openMirror`. */
export async function openLog({
  folder,
  kind,
  signal,
  ...options
}: Omit<MirrorOptions, 'folder' | 'log'> & { folder: string | null }): Promise<OpenLog> {
  const { base } = options.address;
  const state = folder === null ? newState(base, kind) : await readState(folder, base, kind);
  const trust = await trustedKeys(folder, options, signal);
  const manifest = await openManifestCopy({ ...options, folder, state, keys: trust.keys });
  return { state, trust, manifest };
}

/**
 * Opens a folder for one kind of one network, and asks for the newest entry of its manifest. Throws FOLDER_MISMATCH,
 * MANIFEST_INVALID, API_KEY_REFUSED, DOWNLOAD_FAILED, DISK_FULL, DATA_DIR_UNUSABLE.
 */
export async function openMirror(options: MirrorOptions): Promise<Mirror> {
  const { folder, kind, signal } = options;
  await makeFolder(path.join(folder, kind));
  const log = options.log ?? (await openLog(options));
  const closeLog = async (): Promise<void> => {
    if (options.log === undefined) await log.manifest.close();
  };
  try {
    await log.manifest.refresh(signal);
    const done = await openDoneMarks(folder);
    const close = async (): Promise<void> => {
      await Promise.all([closeLog(), done.close()]);
    };
    return { options, ...log, done, close };
  } catch (error) {
    await closeLog();
    throw error;
  }
}

/**
 * Notes which files of its own a folder has before a pull. The returned function removes those that came since, if the
 * folder was pulled into for the first time and has no file of blocks. Call it after the mirror is closed.
 */
export function noteFolder(folder: string, kind: Kind): () => Promise<void> {
  const blocks = path.join(folder, kind);
  const own = [STATE_FILE, MARKS_FILE, HEAD_FILE, KEYS_FILE, `_${kind}.jsonl`].map((name) =>
    path.join(folder, name),
  );
  const isOld = existsSync(path.join(folder, STATE_FILE)) || existsSync(blocks);
  const made = own.filter((file) => !existsSync(file));
  return async () => {
    if (isOld) return;
    try {
      await rmdir(blocks);
    } catch (error) {
      // It has files, which need the others.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return;
    }
    for (const file of made) await rm(file, { force: true });
  };
}

/**
 * Finds what is to be downloaded. Throws RANGE_INVALID, RANGE_BEYOND_HEAD, RANGE_INCOMPLETE, PLAN_LIMIT, and DISK_FULL
 * if the files do not fit.
 */
export async function planMirror(
  mirror: Mirror,
  { from, to, partial = false, has = [], passing = false, check = false, wholeManifest = false }: Wanted,
): Promise<MirrorPlan> {
  const { options, state, manifest } = mirror;
  const { folder, kind, signal } = options;
  const extent = manifest.extent();
  if (extent === null || state.log === null) throw nothingPublished(options, kind);
  const dates = Object.keys(state.dates).length;
  const asked = await resolveRange(
    { from, to },
    extent,
    blockDates(options, { kind, published: extent, known: state.dates }, signal),
  );
  if (Object.keys(state.dates).length > dates) await writeState(folder, state);
  // Without an end it goes on with what is published later, and then only that is asked for.
  const bounds = {
    firstBlock: from === undefined ? ALL_BLOCKS.firstBlock : asked.firstBlock,
    lastBlock: to === undefined ? ALL_BLOCKS.lastBlock : asked.lastBlock,
  };
  await manifest.cover(wholeManifest ? ALL_BLOCKS : bounds, signal);

  const whole = choose(mirror, asked, has);
  if (whole.presentFiles === whole.files && whole.gaps.length === 0) {
    return { ...whole, check, range: asked, network: state.log.network, holes: [], limitedTo: null };
  }
  const reasons = await withReasons(options, asked, partial);
  const { holes, limitedTo } = reasons;
  const range = limitedTo === null ? reasons.range : inWholeFiles(manifest, reasons.range);
  const chosen = limitedTo === null ? whole : choose(mirror, range, has);
  if (chosen.gaps.length > 0 && !partial) throw incomplete(kind, chosen.gaps, holes);
  const space = chosen.bytes - chosen.presentBytes;
  await checkSpace(folder, passing ? Math.min(space, PASSING) : space);
  return { ...chosen, check, range, network: state.log.network, holes, limitedTo };
}

type Chosen = Pick<MirrorPlan, 'rows' | 'present' | 'files' | 'bytes' | 'presentFiles' | 'presentBytes'> & {
  gaps: BlockRange[];
};

/** The bundles of a range, and which of them the folder has. */
function choose({ options, manifest, done }: Mirror, range: BlockRange, has: readonly BlockRange[]): Chosen {
  const all = manifest.rows.choose(range);
  const rows = all.filter((row) => {
    const blocks = manifest.rows.at(row);
    const wanted = {
      firstBlock: Math.max(blocks.firstBlock, range.firstBlock),
      lastBlock: Math.min(blocks.lastBlock, range.lastBlock),
    };
    return has.length === 0 || subtractRanges([wanted], has).length > 0;
  });
  const present = new Uint8Array(rows.length);
  let [bytes, presentFiles, presentBytes] = [0, 0, 0];
  for (const [at, row] of rows.entries()) {
    const bundle = manifest.rows.at(row);
    bytes += bundle.bytes;
    if (!done.marked(bundle.sequence)) continue;
    const found = statSync(getTarget(options, bundle), { throwIfNoEntry: false });
    if (found?.size !== bundle.bytes || !done.has(bundle.sequence, found)) continue;
    present[at] = 1;
    presentFiles += 1;
    presentBytes += bundle.bytes;
  }
  const gaps = holesIn(range, manifest.rows, all);
  return { rows, present, files: rows.length, bytes, presentFiles, presentBytes, gaps };
}

/** The range up to the first file that reaches beyond it, which a plan that ends there does not include. */
function inWholeFiles(manifest: ManifestCopy, range: BlockRange): BlockRange {
  const row = manifest.rows.choose(range).at(-1);
  if (row === undefined) return range;
  const last = manifest.rows.at(row);
  if (last.lastBlock <= range.lastBlock) return range;
  if (last.firstBlock > range.firstBlock)
    return { firstBlock: range.firstBlock, lastBlock: last.firstBlock - 1 };
  throw new PackhouseError({
    code: 'PLAN_LIMIT',
    message: `The plan of the key includes blocks up to ${range.lastBlock}, and the file ${last.firstBlock}-${last.lastBlock} reaches beyond it.`,
    hint: 'Blocks of such a file are single files, by their pointers.',
  });
}

/** The file of a bundle. */
export function getTarget({ folder, kind }: MirrorOptions, { firstBlock, lastBlock }: BlockRange): string {
  return path.join(folder, kind, `${firstBlock}-${lastBlock}.json.gz`);
}

/** Asks why blocks are missing; cuts the range at the end of the plan of the key if that is allowed. */
async function withReasons(
  options: MirrorOptions,
  asked: BlockRange,
  partial: boolean,
): Promise<Pick<MirrorPlan, 'range' | 'holes' | 'limitedTo'>> {
  try {
    const holes = await holesWithReasons(options, options.kind, asked, options.signal);
    return { range: asked, holes, limitedTo: null };
  } catch (error) {
    const maxBlock = isPackhouseError(error, 'PLAN_LIMIT') ? error.data.maxBlock : undefined;
    if (!isPackhouseError(error, 'PLAN_LIMIT') || typeof maxBlock !== 'number') throw error;
    if (!partial || maxBlock < asked.firstBlock) {
      throw new PackhouseError({
        code: 'PLAN_LIMIT',
        message: error.message,
        hint: partial ? undefined : `With --partial it pulls up to block ${maxBlock} and exits with 2.`,
        data: error.data,
      });
    }
    const range = { firstBlock: asked.firstBlock, lastBlock: maxBlock };
    const holes = await holesWithReasons(options, options.kind, range, options.signal);
    return { range, holes, limitedTo: maxBlock };
  }
}

/** Holes that an error names one by one. */
const NAMED_HOLES = 3;

function incomplete(kind: Kind, gaps: readonly BlockRange[], holes: readonly Hole[]): PackhouseError {
  const parts = gaps.flatMap((gap) => {
    const within = holes.filter((hole) => hole.from <= gap.lastBlock && hole.to >= gap.firstBlock);
    if (within.length === 0) return [`${gap.firstBlock}-${gap.lastBlock}`];
    return within.map(({ from, to, reason, needs }) => {
      const range = `${Math.max(from, gap.firstBlock)}-${Math.min(to, gap.lastBlock)}`;
      return `${range} (${reason}${needs && `: ${needs}`})`;
    });
  });
  const rest = parts.length - NAMED_HOLES;
  const more = rest > 0 ? ` and ${rest} more ${rest === 1 ? 'range' : 'ranges'}` : '';
  const [first] = gaps as [BlockRange];
  return new PackhouseError({
    code: 'RANGE_INCOMPLETE',
    message: `Not published of ${kind} are the blocks ${parts.slice(0, NAMED_HOLES).join(', ')}${more}.`,
    hint: 'With --partial it pulls the available blocks and exits with 2.',
    data: {
      missing: gaps.slice(0, 100).map(({ firstBlock, lastBlock }) => ({ from: firstBlock, to: lastBlock })),
      reason: holes.find((hole) => hole.from <= first.lastBlock && hole.to >= first.firstBlock)?.reason,
    },
  });
}

async function checkSpace(folder: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  if (bytes === 0 || free >= bytes + RESERVE) return;
  throw new PackhouseError({
    code: 'DISK_FULL',
    message: `The files have ${bytes} bytes, and the disk of ${folder} has ${free} free, of which ${RESERVE} stay free.`,
    hint: 'Make space, give another folder, or pull a part of the range.',
    data: { bytes, free },
  });
}
