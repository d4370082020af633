import type { Kind } from '@packhouse/chain';
import type { SealedEntry } from '@packhouse/manifest';
import { PackhouseError } from '@packhouse/runtime';
import type { PullState } from './pull-state.js';

/** Throws MANIFEST_INVALID if an entry is of another kind, network or chain. */
export function checkLog(
  { kind, network, chainId, sequence }: SealedEntry,
  { kind: own, log }: PullState,
): void {
  if (kind === own && network === (log?.network ?? network) && chainId === (log?.chainId ?? chainId)) return;
  throw invalid(
    `Entry ${sequence} of the manifest of ${own} is of ${kind} of ${network} (chain ${chainId}), expected ${own} of ${log?.network ?? 'any network'}${log === null ? '' : ` (chain ${log.chainId})`}.`,
    'Check the address; if it is right, ask its publisher.',
  );
}

/** The error of a copy that ends before the head. */
export function cutOff(kind: Kind, after: number): PackhouseError {
  return invalid(
    `The manifest of ${kind} is cut off: the gateway sends no entry after entry ${after}, and its signed head is a later one.`,
    'Run it again; if it stays so, ask its publisher.',
  );
}

/** What to do if a log goes on from another entry: its database was set back, or somebody forges it. */
const START_ANEW =
  'Ask its publisher whether the log was adopted again after a loss. If so, delete the files _* in the folder: the next run gets the new log, and keeps the files that it names.';

/** The error of a head that is an earlier one than before. */
export function lost(kind: Kind, before: number, now: number): PackhouseError {
  return invalid(
    `The manifest of ${kind} became shorter: its signed head was entry ${before}, and the gateway's is ${now < 0 ? 'none' : `entry ${now}`}.`,
    START_ANEW,
  );
}

/** The error of two signed entries of which one at most can be right. */
export function forked(kind: Kind, { sequence, publishedAt }: SealedEntry): PackhouseError {
  return invalid(
    `The manifest of ${kind} is forked at entry ${sequence}: the one of ${publishedAt} and an entry that was signed before contradict each other.`,
    START_ANEW,
  );
}

/** The error of a copy that somebody else changed. */
export function wasChanged(name: string, entries: number, expected: number): PackhouseError {
  return invalid(
    `${name} was changed: it has ${entries} entries, expected ${expected}.`,
    'Delete it and _packhouse-pull.json beside it: the next run downloads it again, and keeps the files that are there.',
  );
}

function invalid(message: string, hint: string): PackhouseError {
  return new PackhouseError({ code: 'MANIFEST_INVALID', message, hint });
}
