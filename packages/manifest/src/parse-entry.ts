import { isKind, PROOFS } from '@packhouse/chain';
import { MANIFEST_FORMAT, type SealedEntry } from './entry.js';
import { entryLine } from './entry-text.js';
import { manifestInvalid } from './manifest-invalid.js';

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
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);

/** What each field must be, in the fixed order. */
const FIELDS: { readonly [field in keyof SealedEntry]: Check } = {
  network: like(/^[a-z0-9-]+$/),
  chainId: count,
  kind: (value) => typeof value === 'string' && isKind(value),
  sequence: count,
  start: count,
  end: count,
  sha256: like(HEX_64),
  bytes: count,
  rawBytes: count,
  firstHash: like(HASH),
  firstParentHash: like(HASH),
  lastHash: like(HASH),
  proofs: listOf((value) => (PROOFS as readonly unknown[]).includes(value)),
  clients: listOf(text),
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

/**
 * Reads the line of an entry (no line break). Its form is checked, not its hash or signature: an entry that was read
 * gives exactly this line again. `where` begins the sentence of an error. Throws MANIFEST_INVALID.
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
  if (entry.start > entry.end) {
    throw manifestInvalid(`${where} is no whole entry: its range ${entry.start}-${entry.end} is reversed.`);
  }
  if (entryLine(entry) === line) return entry;
  throw manifestInvalid(
    `${where} is not in the canonical form: it has other fields, another order or other spaces.`,
  );
}
