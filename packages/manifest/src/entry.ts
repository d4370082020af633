import { isKind, type Kind, type NotProved, PROOFS, type Proof } from '@packhouse/chain';
import { PackhouseError } from '@packhouse/runtime';

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
export interface SealedEntry extends ManifestEntry {
  /** SHA-256 of the canonical text, hex. */
  hash: string;
  /** Ed25519 over the canonical text, base64. */
  signature: string;
}

/** The name and version of the format of entries. */
const MANIFEST_FORMAT = 'packhouse-manifest-1';

/** `previous` of the first entry. */
export const NO_ENTRY = '0'.repeat(64);

/**
 * The canonical text of an entry: JSON without white space, its fields in one fixed order. `hash` is its SHA-256,
 * and the signature signs it.
 */
export function entryText(entry: ManifestEntry): string {
  const { notProved, filter } = entry;
  const written = {
    ...entry,
    // Left out if it is absent: the text of an entry that has none is as it always was.
    notProved: notProved?.map(({ proof, because }) => ({ proof, because })),
    filter: filter && { bytes: filter.bytes, sha256: filter.sha256 },
  };
  const fields = TEXT_FIELDS.map((field) => [field, written[field]]);
  return JSON.stringify({ format: MANIFEST_FORMAT, ...Object.fromEntries(fields) });
}

/** The line of a sealed entry, without a line break: the canonical text with hash and signature at its end. */
export function entryLine(entry: SealedEntry): string {
  return `${entryText(entry).slice(0, -1)},"hash":"${entry.hash}","signature":"${entry.signature}"}`;
}

/**
 * Parses the line of an entry (no line break). Checks its form, not its hash or signature: `entryLine` of the result
 * is exactly this line. `where` begins the sentence of an error. Throws MANIFEST_INVALID.
 */
export function parseEntry(line: string, where: string): SealedEntry {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw manifestInvalid(`${where} is no JSON: it was cut off or changed.`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw manifestInvalid(`${where} is no entry of a manifest.`);
  }
  const fields = value as Record<string, unknown>;
  if (fields.format !== MANIFEST_FORMAT) {
    const format = JSON.stringify(fields.format ?? null).slice(0, 60);
    throw manifestInvalid(`${where} has the format ${format}, and this program reads "${MANIFEST_FORMAT}".`);
  }
  for (const [field, check] of Object.entries(FIELDS)) {
    if (check(fields[field])) continue;
    const got = field in fields ? 'has another form than it must' : 'is missing';
    throw manifestInvalid(`${where} is no whole entry: its field ${field} ${got}.`, { field });
  }
  const entry = value as SealedEntry;
  if (entry.from > entry.to) {
    throw manifestInvalid(`${where} is no whole entry: its range ${entry.from}-${entry.to} is reversed.`);
  }
  if (entryLine(entry) === line) return entry;
  throw manifestInvalid(
    `${where} is not in the canonical form: it has other fields, another order or other spaces.`,
  );
}

const HEX_64 = /^[0-9a-f]{64}$/;
const HASH = /^0x[0-9a-f]{64}$/;
const SIGNATURE = /^[A-Za-z0-9+/]{86}==$/;

type Check = (value: unknown) => boolean;
const count: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const text: Check = (value) => typeof value === 'string';
const like =
  (form: RegExp): Check =>
  (value) =>
    typeof value === 'string' && form.test(value);
const toList =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);

const isProof: Check = (value) => (PROOFS as readonly unknown[]).includes(value);
const isNotProved: Check = (value) => {
  const { proof, because } = (value ?? {}) as Partial<NotProved>;
  return isProof(proof) && text(because);
};

const isFilter: Check = (value) => {
  const { bytes, sha256 } = (value ?? {}) as Partial<FilterFile>;
  return count(bytes) && bytes !== 0 && like(HEX_64)(sha256);
};

/** The check of each field, in the fixed order. */
const FIELDS: { readonly [field in keyof SealedEntry]-?: Check } = {
  network: like(/^[a-z0-9-]+$/),
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
  publishedAt: like(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  previous: like(HEX_64),
  keyId: like(/^[0-9a-f]{16}$/),
  hash: like(HEX_64),
  signature: (value) =>
    like(SIGNATURE)(value) && Buffer.from(value as string, 'base64').toString('base64') === value,
};

/** All but the two that seal the text. */
const TEXT_FIELDS = (Object.keys(FIELDS) as (keyof SealedEntry)[]).filter(
  (field): field is keyof ManifestEntry => field !== 'hash' && field !== 'signature',
);

/** The error for a manifest that differs from the published one; `message` is a whole sentence. */
export function manifestInvalid(
  message: string,
  data: Record<string, unknown> = {},
  hint = 'Download the manifest again; if it stays so, ask its publisher.',
): PackhouseError {
  return new PackhouseError({ code: 'MANIFEST_INVALID', message, hint, data });
}
