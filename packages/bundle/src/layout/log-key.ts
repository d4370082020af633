import { isKind, type Kind } from '@packhouse/chain';

/** Some entries of the signed log of a network and kind, as an object. */
export interface LogName {
  network: string;
  kind: Kind;
  /** Sequence of the first entry. */
  first: number;
  /** Sequence of the last entry. */
  last: number;
  /** The hash that the first entry follows, and that of the last: 64 hex digits, of which the key has 16. */
  before: string;
  hash: string;
}

/** So many digits that keys are in the order of the log. */
const DIGITS = 10;
const HASH_DIGITS = 16;
const KEY = /^([a-z0-9-]+)\/manifest\/([a-z]+)\/(\d{10})-(\d{10})-([0-9a-f]{16})-([0-9a-f]{16})\.jsonl$/;

/**
 * The key of a part of the signed log in the object store: `<network>/manifest/<kind>/<first>-<last>-<before>-<hash>.jsonl`.
 * The hashes chain the parts, and give another branch of the log (after a database was set back) another key.
 */
export function logKey({ network, kind, first, last, before, hash }: LogName): string {
  const pad = (sequence: number): string => String(sequence).padStart(DIGITS, '0');
  const [from, to] = [before, hash].map((text) => text.slice(0, HASH_DIGITS));
  return `${logPrefix(network, kind)}${pad(first)}-${pad(last)}-${from}-${to}.jsonl`;
}

/** The beginning of the keys of one log. */
export function logPrefix(network: string, kind: Kind): string {
  return `${network}/manifest/${kind}/`;
}

/** A key that no part of a log from `first` on is before, to list behind it. */
export function logKeyBefore(network: string, kind: Kind, first: number): string {
  return `${logPrefix(network, kind)}${String(first).padStart(DIGITS, '0')}`;
}

/** What a key of a part of a log says, its hashes cut to 16 digits; null: it is none. */
export function parseLogKey(key: string): LogName | null {
  const [, network = '', kind = '', first, last, before = '', hash = ''] = KEY.exec(key) ?? [];
  if (!isKind(kind)) return null;
  return { network, kind, first: Number(first), last: Number(last), before, hash };
}
