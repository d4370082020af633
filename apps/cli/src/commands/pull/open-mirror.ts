import { mkdir, rmdir } from 'node:fs/promises';
import path from 'node:path';
import type { Kind } from '@packhouse/chain';
import {
  type Bound,
  type Gateway,
  type Mirror,
  type MirrorFile,
  type MirrorPlan,
  noteFolder,
  openMirror,
} from '@packhouse/client';
import { isPackhouseError, PackhouseError } from '@packhouse/runtime';
import { takeFolder } from '../../installation/directory-lock.js';
import type { CliIo } from '../../terminal/io.js';
import { createPullProgress } from './progress.js';
import { createWaitLines, type Waits } from './wait-lines.js';

/** What both kinds of pull are asked for. */
export interface PullRequest extends Gateway {
  kind: Kind;
  from: Bound | undefined;
  to: Bound | undefined;
  options: { trustKey?: string; partial?: boolean; wholeManifest?: boolean; json?: boolean };
  /** Who hears of waits at the moment. */
  waits: { heard?: Waits };
}

/**
 * Locks a folder and others, makes them if they are absent, and opens the mirror in it; prints the signing key that it
 * trusts from now on. A first pull that is refused leaves nothing behind. Throws DATA_DIR_BUSY, DATA_DIR_UNUSABLE and as `openMirror`.
 */
export async function withMirror(
  io: CliIo,
  { kind, address, http, options, waits }: PullRequest,
  folder: string,
  others: readonly string[],
  use: (mirror: Mirror) => Promise<void>,
): Promise<void> {
  waits.heard = createWaitLines((text) => io.stderr.write(`${text}\n`));
  const locks: Lock[] = [];
  let discard: (() => Promise<void>) | undefined;
  try {
    await lockFolders(io, [...new Set([...others, folder])], locks);
    discard = noteFolder(folder, kind);
    const trustKeyFile = options.trustKey === undefined ? undefined : path.resolve(io.cwd, options.trustKey);
    const mirror = await openMirror({ folder, kind, address, http, trustKeyFile, signal: io.signal });
    const { isNew } = mirror.trust;
    if (isNew !== null) {
      io.stderr.write(`New trusted signing key: ${isNew.keyIds.join(', ')} of ${isNew.from}.\n`);
    }
    try {
      await use(mirror);
    } finally {
      await mirror.close();
    }
  } catch (error) {
    // What broke off is continued by the next run.
    const refused = isPackhouseError(error) && !(error.code === 'DOWNLOAD_FAILED' && error.retryable);
    if (refused && !io.signal.aborted) await discard?.();
    throw error;
  } finally {
    for (const { release, folder: locked, made } of locks.reverse()) {
      release();
      await removeEmpty(locked, made);
    }
  }
}

/** A locked folder, and the outermost folder that was made for it; undefined: it was there. */
interface Lock {
  release(): void;
  folder: string;
  made: string | undefined;
}

/** Removes folders that were made for this run and are still empty. */
async function removeEmpty(folder: string, made: string | undefined): Promise<void> {
  if (made === undefined) return;
  for (let at = folder; at.length >= made.length; at = path.dirname(at)) {
    const removed = await rmdir(at).then(
      () => true,
      () => false,
    );
    if (!removed) return;
  }
}

async function lockFolders(io: CliIo, folders: readonly string[], locks: Lock[]): Promise<void> {
  try {
    for (const folder of folders) {
      const made = await mkdir(folder, { recursive: true });
      const { release } = takeFolder(
        folder,
        io.pid,
        'Wait until that one is done, or give another with --out.',
      );
      locks.push({ release, folder, made });
    }
  } catch (cause) {
    if (cause instanceof PackhouseError) throw cause;
    throw new PackhouseError({
      code: 'DATA_DIR_UNUSABLE',
      message: `Cannot create ${folders.join(' or ')}: ${(cause as Error).message}.`,
      hint: 'Give another folder with --out.',
      cause,
    });
  }
}

/** Shows the progress of files as they come; returns how many were downloaded, and how many were faulty. */
export async function showFiles(
  io: CliIo,
  plan: MirrorPlan,
  { options, waits }: PullRequest,
  getFiles: (onBytes: (bytes: number) => void) => AsyncIterable<MirrorFile>,
): Promise<{ downloaded: number; faults: number }> {
  const progress = createPullProgress(io, plan, options.json === true);
  waits.heard = progress;
  let ended = { downloaded: 0, faults: 0 };
  try {
    for await (const file of getFiles(progress.bytes)) await progress.file(file);
  } finally {
    ended = progress.end();
  }
  return ended;
}
