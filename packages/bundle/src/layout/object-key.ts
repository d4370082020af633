import { type BlockRange, isKind, KINDS, type Kind } from '@packhouse/chain';
import { PackhouseError } from '@packhouse/runtime';

/** The bundle that a key of the object store names. */
interface ObjectName extends BlockRange {
  network: string;
  kind: Kind;
  /** 1 or absent, or more if the bundle was published again; `parseObjectKey` leaves 1 out. */
  version?: number | undefined;
}

/** Versions are stored in 16 bits. */
const MAX_VERSION = 32_767;
const NETWORK = /^[a-z0-9-]+$/;
const FILE_NAME = /^(0|[1-9]\d{0,15})-(0|[1-9]\d{0,15})\.json\.gz$/;
const SUFFIX = '.json.gz';
const FILTER_SUFFIX = '.filter';
const VERSIONED = /^(.*)\.v([1-9]\d{0,4})\.json\.gz$/;

/**
 * The key of a bundle in the object store: `<network>/<kind>/<start>-<end>.json.gz`, and from version 2 on
 * `<network>/<kind>/<start>-<end>.v<version>.json.gz`. Throws NAME_INVALID.
 */
export function objectKey({ network, kind, firstBlock, lastBlock, version = 1 }: ObjectName): string {
  if (!isRange({ firstBlock, lastBlock })) throw invalidFileName(`The range ${firstBlock}-${lastBlock}`);
  const key = `${network}/${kind}/${firstBlock}-${lastBlock}${version === 1 ? '' : `.v${version}`}${SUFFIX}`;
  check(network, kind, key);
  if (!Number.isInteger(version) || version < 1 || version > MAX_VERSION) {
    throw invalid(key, `a version of 1 to ${MAX_VERSION}`);
  }
  return key;
}

/** The bundle that a key names. Throws NAME_INVALID unless `objectKey` makes this key. */
export function parseObjectKey(text: string): ObjectName {
  const [network = '', kind = '', ...rest] = text.split('/');
  check(network, kind, text);
  const file = rest.join('/');
  const [, name, digits] = VERSIONED.exec(file) ?? [];
  if (name === undefined) return { network, kind, ...parseFileName(file) };
  const version = Number(digits);
  if (version === 1 || version > MAX_VERSION) throw invalid(text, `a version of 2 to ${MAX_VERSION}`);
  return { network, kind, ...parseFileName(name + SUFFIX), version };
}

/** The key of the filter of the bundle with this key: `.filter` in the place of `.json.gz`. Throws NAME_INVALID. */
export function filterKey(bundleKey: string): string {
  parseObjectKey(bundleKey);
  return `${bundleKey.slice(0, -SUFFIX.length)}${FILTER_SUFFIX}`;
}

/** The key of the bundle that a filter belongs to; null for a key that is not named as a filter. */
export function bundleOfFilter(key: string): string | null {
  return key.endsWith(FILTER_SUFFIX) ? `${key.slice(0, -FILTER_SUFFIX.length)}${SUFFIX}` : null;
}

/** The blocks that a file of this name (`<start>-<end>.json.gz`) holds. Throws NAME_INVALID. */
export function parseFileName(text: string): BlockRange {
  const [, first, second] = FILE_NAME.exec(text) ?? [];
  const range = { firstBlock: Number(first), lastBlock: Number(second) };
  if (!isRange(range)) throw invalidFileName(JSON.stringify(text.slice(0, 100)));
  return range;
}

function isRange({ firstBlock, lastBlock }: BlockRange): boolean {
  return [firstBlock, lastBlock].every(Number.isSafeInteger) && firstBlock >= 0 && lastBlock >= firstBlock;
}

function invalid(shown: string, wrong: string): PackhouseError {
  return new PackhouseError({
    code: 'NAME_INVALID',
    message: `${JSON.stringify(shown.slice(0, 200))} is not the key of a bundle, expected ${wrong} in <network>/<kind>/<start>-<end>.json.gz or <network>/<kind>/<start>-<end>.v<version>.json.gz.`,
  });
}

function check(network: string, kind: string, shown: string): asserts kind is Kind {
  if (!NETWORK.test(network)) throw invalid(shown, 'a network id of a-z, 0-9 and -');
  if (!isKind(kind)) throw invalid(shown, `one of the kinds ${KINDS.join(', ')}`);
}

function invalidFileName(what: string): PackhouseError {
  return new PackhouseError({
    code: 'NAME_INVALID',
    message: `${what} is not the name of a bundle file, expected <start>-<end>.json.gz with block numbers in decimal.`,
    hint: 'Block numbers have no leading zeros, and the end is not before the start.',
  });
}

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
