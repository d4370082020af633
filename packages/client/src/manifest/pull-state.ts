import path from 'node:path';
import type { BlockRange, Kind } from '@packhouse/chain';
import { PackhouseError, readIfThere, writeWhole } from '@packhouse/runtime';
import { isWhole, type KnownPart } from './known-parts.js';

export const STATE_FILE = '_packhouse-pull.json';
const FORMAT = 'packhouse-pull-1';

/** What a folder is filled with, and how far its copy of the manifest is checked. */
export interface PullState {
  format: typeof FORMAT;
  /** The base address of the network, ending in `/v1/`. */
  base: string;
  kind: Kind;
  /** Null before the first entry. */
  log: { network: string; chainId: number } | null;
  /** The newest signed entry, and the blocks that were published then. */
  head: ({ sequence: number; hash: string } & BlockRange) | null;
  /** The blocks whose entries the copy has. */
  parts: KnownPart[];
  /** The checked bytes of `_<kind>.jsonl`: what follows them was being written when a run was killed. */
  bytes: number;
  /** In these bytes. */
  entries: number;
  /** Blocks of dates: the number of the first block at or after this moment (ISO 8601). */
  dates: Record<string, number>;
}

/**
 * Reads the state of a folder, or begins one. Throws FOLDER_MISMATCH if the folder is for something else or was
 * written by a newer version.
 */
export async function readState(folder: string, base: string, kind: Kind): Promise<PullState> {
  const text = await readIfThere(path.join(folder, STATE_FILE));
  if (text === null) return newState(base, kind);
  const state = parse(text);
  if (state === null) {
    throw mismatch(folder, `holds a ${STATE_FILE} that this version cannot read`);
  }
  if (state.base !== base) throw mismatch(folder, `is filled from ${state.base}, not from ${base}`);
  if (state.kind !== kind) throw mismatch(folder, `holds ${state.kind}, not ${kind}`);
  return state;
}

/** The state of a folder that is empty. */
export function newState(base: string, kind: Kind): PullState {
  return { format: FORMAT, base, kind, log: null, head: null, parts: [], bytes: 0, entries: 0, dates: {} };
}

/** Whether a manifest is one that a pull keeps beside its state, and of which it has only a part. */
export async function isPartialCopy(manifest: string): Promise<boolean> {
  const { dir, base } = path.parse(manifest);
  const state = parse((await readIfThere(path.join(dir, STATE_FILE))) ?? '');
  return state !== null && base === `_${state.kind}.jsonl` && !isWhole(state.parts);
}

/** Keeps the state of a folder. Throws DISK_FULL, DATA_DIR_UNUSABLE. */
export async function writeState(folder: string, state: PullState): Promise<void> {
  await writeWhole(path.join(folder, STATE_FILE), `${JSON.stringify(state, null, 2)}\n`);
}

function parse(text: string): PullState | null {
  try {
    const state = JSON.parse(text) as PullState;
    return state.format === FORMAT && Array.isArray(state.parts) ? state : null;
  } catch {
    return null;
  }
}

function mismatch(folder: string, what: string): PackhouseError {
  return new PackhouseError({
    code: 'FOLDER_MISMATCH',
    message: `The folder ${folder} ${what}.`,
    hint: 'Pull into another folder.',
  });
}
