import { rename, rm, stat } from 'node:fs/promises';
import type { BlockRange } from '@packhouse/chain';
import type { SealedEntry } from '@packhouse/manifest';
import { isPackhouseError, openScope, PackhouseError } from '@packhouse/runtime';
import {
  askForLink,
  type Different,
  downloadFile,
  getPart,
  hashOfFile,
  LINK_END,
} from '../fetch/download-file.js';
import { downloadParts, type PartBundle } from '../fetch/download-parts.js';
import { unpackParts } from '../fetch/file-parts.js';
import type { Http } from '../fetch/http.js';
import { getTarget, type Mirror, type MirrorPlan } from './mirror.js';

/** Downloads at a time. */
const AT_ONCE = 8;
/** Files that are left out, between those downloads. */
const MAX_SKIPPED = 1_000;

/** A file of the mirror, or what is wrong with it. */
export type MirrorFile = {
  range: BlockRange;
  path: string;
  entry: SealedEntry;
} /** `skipped`: it is not there, and the plan leaves it out. */ & (
  | { state: 'present' | 'downloaded' | 'skipped' }
  /** `partial`: it is not there, and these are the parts of it that the plan asks for. */
  | { state: 'partial'; parts: PartBundle[] }
  /** The gateway sends other bytes than the manifest says, or no file: a sentence. */
  | { state: 'faulty'; fault: string }
);

/**
 * Brings the files of a plan into the folder, and yields them ascending by block; 8 are downloaded at a time. A file
 * that is not what the manifest says is asked for once more, then named, and kept as `.damaged`; all others are
 * downloaded nevertheless. Throws API_KEY_REFUSED, DOWNLOAD_FAILED, DISK_FULL, DATA_DIR_UNUSABLE; what is whole by
 * then stays.
 */
export async function* mirrorFiles(
  mirror: Mirror,
  plan: MirrorPlan,
  onBytes: (bytes: number) => void = () => undefined,
): AsyncGenerator<MirrorFile> {
  const scope = openScope(mirror.options.signal);
  const toLink = createLinks(mirror);
  const refresh = createRefresh(mirror, plan);
  const window: Promise<MirrorFile>[] = [];
  let downloads = 0;
  const next = async (): Promise<MirrorFile> => {
    const file = await (window.shift() as Promise<MirrorFile>);
    if (file.state !== 'skipped') downloads -= 1;
    return file;
  };
  try {
    for (const [at, row] of plan.rows.entries()) {
      scope.signal.throwIfAborted();
      const skipped = plan.skip?.[at] === 1;
      const file = skipped
        ? getFile(mirror, row).then((each) => ({ ...each, state: 'skipped' as const }))
        : obtain(mirror, row, {
            present: plan.present[at] === 1 && !plan.check,
            parts: plan.parts?.get(at),
            toLink,
            refresh,
            onBytes,
            signal: scope.signal,
          });
      // Its failure is seen when its turn comes.
      file.catch(() => undefined);
      window.push(file);
      if (!skipped) downloads += 1;
      while (downloads === AT_ONCE || window.length - downloads > MAX_SKIPPED) yield await next();
    }
    while (window.length > 0) {
      scope.signal.throwIfAborted();
      yield await next();
    }
  } finally {
    scope.abort(new Error('the pull ended'));
    await Promise.allSettled(window);
    scope.close();
  }
}

/** The error of a faulty file. */
export function faultyFile({ range, fault }: Extract<MirrorFile, { state: 'faulty' }>): PackhouseError {
  const data = { from: range.firstBlock, to: range.lastBlock };
  return new PackhouseError({ code: 'BUNDLE_INVALID', message: fault, data });
}

interface Obtain {
  present: boolean;
  /** Of `packParts`: what is loaded; absent: the file. */
  parts: Buffer | undefined;
  toLink(range: BlockRange, signal: AbortSignal): Promise<string>;
  refresh(): Promise<void>;
  onBytes(bytes: number): void;
  signal: AbortSignal;
}

async function getFile(
  { manifest, options }: Mirror,
  row: number,
): Promise<Pick<MirrorFile, 'range' | 'path' | 'entry'>> {
  const entry = await manifest.entry(row);
  const range = { firstBlock: entry.from, lastBlock: entry.to };
  return { range, path: getTarget(options, range), entry };
}

async function obtain(mirror: Mirror, row: number, how: Obtain): Promise<MirrorFile> {
  const { manifest, done, options } = mirror;
  const file = await getFile(mirror, row);
  const { range, path, entry } = file;
  if (how.present) return { ...file, state: 'present' };
  if (await isWhole(path, entry)) {
    // It was touched, or renamed by a run that ended before it marked it.
    await done.add(entry.sequence, path);
    return { ...file, state: 'present' };
  }
  for (let again = false; ; again = true) {
    const got = await tryOnce(options.http, file, how);
    if (typeof got !== 'string') {
      if (got.state === 'downloaded') await done.add(entry.sequence, path);
      return { ...file, ...got };
    }
    if (!again) {
      // Perhaps the bundle was replaced after the manifest was read.
      await how.refresh();
      const newest = manifest.rows
        .choose(range)
        .find((each) => manifest.rows.at(each).firstBlock === range.firstBlock);
      if (newest !== undefined && newest !== row) {
        await rm(getPart(path), { force: true });
        return obtain(mirror, newest, { ...how, present: false, parts: undefined });
      }
      continue;
    }
    const kept = await rename(getPart(path), `${path}.damaged`).then(
      () => ` What came is kept as ${path}.damaged.`,
      () => '',
    );
    return { ...file, state: 'faulty', fault: `${got}${kept}` };
  }
}

type Got = { state: 'downloaded' } | { state: 'partial'; parts: PartBundle[] };

/** Downloads a file, or parts of it; a sentence if something else came, or if there is no such file. */
async function tryOnce(
  http: Http,
  { range, path, entry }: { range: BlockRange; path: string; entry: SealedEntry },
  { parts, toLink, onBytes, signal }: Obtain,
): Promise<Got | string> {
  try {
    const url = await toLink(range, signal);
    if (parts !== undefined) {
      const got = await downloadParts({ http, url, parts: unpackParts(parts), onBytes, signal });
      if (!('differs' in got)) return { state: 'partial', parts: got };
      const { firstBlock, lastBlock } = got.differs;
      return `The gateway sends blocks ${firstBlock}-${lastBlock} of ${path} other than the signed filter says.`;
    }
    const got = await downloadFile({ http, url, target: path, entry, onBytes, signal });
    return got === null ? { state: 'downloaded' } : sentence(path, entry, got);
  } catch (error) {
    const status = isPackhouseError(error, 'DOWNLOAD_FAILED') ? error.data.status : undefined;
    // This file, or this range of it, is not there; others may be.
    if (status === 404 || status === 410 || status === 416) return (error as PackhouseError).message;
    throw error;
  }
}

function sentence(path: string, entry: SealedEntry, { bytes, sha256 }: Different): string {
  const got =
    bytes === entry.bytes
      ? `its sha256 is ${sha256}, expected ${entry.sha256}`
      : `it is ${sha256 === null ? 'longer than' : `${bytes} bytes long, expected`} ${entry.bytes} bytes`;
  return `The gateway sends ${path} other than the manifest says: ${got}.`;
}

async function isWhole(file: string, entry: SealedEntry): Promise<boolean> {
  const found = await stat(file).catch(() => null);
  return found?.size === entry.bytes && (await hashOfFile(file)) === entry.sha256;
}

/** Updates the manifest of the range; calls at the same time share one. */
function createRefresh({ manifest, options }: Mirror, { range }: MirrorPlan): () => Promise<void> {
  const update = async (): Promise<void> => {
    await manifest.refresh(options.signal);
    await manifest.cover(range, options.signal);
  };
  let running: Promise<void> | null = null;
  return () => {
    running ??= update().finally(() => {
      running = null;
    });
    return running;
  };
}

/** Makes links of files: all begin as the one that the gateway gives for the first. */
function createLinks({ options: { address, http, kind } }: Mirror): Obtain['toLink'] {
  let base: Promise<string> | null = null;
  const ask = async ({ firstBlock }: BlockRange, signal: AbortSignal): Promise<string> => {
    const link = await askForLink({ address, http }, kind, firstBlock, signal);
    return link.replace(LINK_END, '');
  };
  return async (range, signal) => {
    base ??= ask(range, signal);
    return `${await base}/${kind}/${range.firstBlock}-${range.lastBlock}.json.gz`;
  };
}
