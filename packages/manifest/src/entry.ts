import { isKind, type Kind, type NotProved, PROOFS, type Proof } from '@packhouse/chain';
import {
  type Check,
  count,
  createEntryForm,
  DATE,
  HEX_64,
  KEY_ID,
  like,
  NETWORK,
  SEAL,
  type Seal,
  text,
  toList,
} from './entry-form.js';

/** The filter of a bundle, an object of its own: what the file can hold (docs/formats.md). */
export interface FilterFile {
  bytes: number;
  /** Hex. */
  sha256: string;
}

/** Facts of one published bundle; the fields in the order of the canonical text. */
export interface ManifestEntry {
  network: string;
  chainId: number;
  kind: Kind;
  /** 0, 1, 2, … without a gap within network and kind. */
  sequence: number;
  /** First block. */
  from: number;
  /** Last block. */
  to: number;
  /** Of the file, hex. */
  sha256: string;
  /** Of the gzip file. */
  bytes: number;
  /** Of the JSON inside. */
  rawBytes: number;
  /** Hash of block `from`, `0x` hex. */
  firstHash: string;
  firstParentHash: string;
  /** Hash of block `to`. */
  lastHash: string;
  /** The proofs that every block of it passed. */
  proofs: readonly Proof[];
  /** What of some block was not proved, each reason once; absent: nothing. */
  notProved?: readonly NotProved[];
  /** The filter beside the file; absent: the entry names none. */
  filter?: FilterFile;
  /** Client versions of the upstreams that the blocks came from, sorted; empty: unknown. */
  clients: readonly string[];
  /** The program that packed it, `name/version`. */
  producer: string;
  /** 1, or one more than that of the bundle it replaces. */
  version: number;
  /** SHA-256 of the file it replaces, hex. */
  supersedes: string | null;
  /** ISO 8601 in UTC with milliseconds. */
  publishedAt: string;
  /** Hash of the entry before, hex; 64 zeros in the first. */
  previous: string;
  /** First 16 hex digits of the SHA-256 of the public key. */
  keyId: string;
}

/** An entry with its hash and signature. */
export interface SealedEntry extends ManifestEntry, Seal {}

/** The name and version of the format of entries. */
const MANIFEST_FORMAT = 'packhouse-manifest-1';

/** `previous` of the first entry. */
export const NO_ENTRY = '0'.repeat(64);

const HASH = /^0x[0-9a-f]{64}$/;

const isProof: Check = (value) => (PROOFS as readonly unknown[]).includes(value);
const isNotProved: Check = (value) => {
  const { proof, because } = (value ?? {}) as Partial<NotProved>;
  return isProof(proof) && text(because);
};

const isFilter: Check = (value) => {
  const { bytes, sha256 } = (value ?? {}) as Partial<FilterFile>;
  return count(bytes) && bytes !== 0 && like(HEX_64)(sha256);
};

const FORM = createEntryForm<SealedEntry>({
  format: MANIFEST_FORMAT,
  fields: {
    network: NETWORK,
    chainId: count,
    kind: (value) => typeof value === 'string' && isKind(value),
    sequence: count,
    from: count,
    to: count,
    sha256: like(HEX_64),
    bytes: count,
    rawBytes: count,
    firstHash: like(HASH),
    firstParentHash: like(HASH),
    lastHash: like(HASH),
    proofs: toList(isProof),
    notProved: (value) => value === undefined || (toList(isNotProved)(value) && (value as []).length > 0),
    filter: (value) => value === undefined || isFilter(value),
    clients: toList(text),
    producer: text,
    version: (value) => count(value) && value !== 0,
    supersedes: (value) => value === null || like(HEX_64)(value),
    publishedAt: DATE,
    previous: like(HEX_64),
    keyId: KEY_ID,
    ...SEAL,
  },
  toWritten: (entry) => ({
    ...entry,
    // Left out if it is absent: the text of an entry that has none is as it always was.
    notProved: entry.notProved?.map(({ proof, because }) => ({ proof, because })),
    filter: entry.filter && { bytes: entry.filter.bytes, sha256: entry.filter.sha256 },
  }),
});

/**
 * The canonical text of an entry: JSON without white space, its fields in one fixed order. `hash` is its SHA-256,
 * and the signature signs it.
 */
export const entryText = FORM.toText as (entry: ManifestEntry) => string;

/** The line of a sealed entry, without a line break: the canonical text with hash and signature at its end. */
export const entryLine = FORM.toLine;

/**
 * Parses the line of an entry (no line break). Checks its form, not its hash or signature: `entryLine` of the result
 * is exactly this line. `where` begins the sentence of an error. Throws MANIFEST_INVALID.
 */
export const parseEntry = FORM.parse;
