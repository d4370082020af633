import { PackhouseError } from '@packhouse/runtime';

/** What seals the canonical text of an entry, and its place in a log. */
export interface Seal {
  /** SHA-256 of the canonical text, hex. */
  hash: string;
  /** Ed25519 over the canonical text, base64. */
  signature: string;
}

/** A condition of a field. */
export type Check = (value: unknown) => boolean;

export const count: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
export const text: Check = (value) => typeof value === 'string';
export const like =
  (form: RegExp): Check =>
  (value) =>
    typeof value === 'string' && form.test(value);
export const toList =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);

export const HEX_64 = /^[0-9a-f]{64}$/;
const SIGNATURE = /^[A-Za-z0-9+/]{86}==$/;

/** Checks of the fields that entries of all logs have. */
export const NETWORK: Check = like(/^[a-z0-9-]+$/);
export const DATE: Check = like(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
export const KEY_ID: Check = like(/^[0-9a-f]{16}$/);
/** The last two fields of every entry. */
export const SEAL = {
  hash: like(HEX_64),
  signature: (value: unknown) =>
    like(SIGNATURE)(value) && Buffer.from(value as string, 'base64').toString('base64') === value,
} as const satisfies Record<keyof Seal, Check>;

/** How the entries of one format are written. */
interface EntryForm<S extends Seal> {
  /**
   * The canonical text of an entry: JSON without white space, its fields in one fixed order. `hash` is its SHA-256,
   * and the signature signs it.
   */
  toText(entry: Omit<S, keyof Seal>): string;
  /** The line of a sealed entry, without a line break: the canonical text with hash and signature at its end. */
  toLine(entry: S): string;
  /** See `parseEntry`. */
  parse(line: string, where: string): S;
}

/**
 * Creates the form of a format. `fields` has the check of each field in the fixed order; `toWritten` puts the members of
 * a field's value in order.
 */
export function createEntryForm<S extends Seal & { from: number; to: number }>({
  format,
  fields,
  toWritten = (entry) => entry,
}: {
  format: string;
  fields: { readonly [field in keyof S]-?: Check };
  toWritten?: (entry: Omit<S, keyof Seal>) => object;
}): EntryForm<S> {
  const textFields = Object.keys(fields).filter((field) => !(field in SEAL));
  const toText = (entry: Omit<S, keyof Seal>): string => {
    const written = toWritten(entry) as Record<string, unknown>;
    return JSON.stringify({
      format,
      ...Object.fromEntries(textFields.map((field) => [field, written[field]])),
    });
  };
  const toLine = (entry: S): string =>
    `${toText(entry).slice(0, -1)},"hash":"${entry.hash}","signature":"${entry.signature}"}`;
  return {
    toText,
    toLine,
    parse(line, where) {
      const read = parseObject(line, where);
      if (read.format !== format) {
        const got = JSON.stringify(read.format ?? null).slice(0, 60);
        throw manifestInvalid(`${where} has the format ${got}, and this program reads "${format}".`);
      }
      for (const [field, check] of Object.entries<Check>(fields)) {
        if (check(read[field])) continue;
        const got = field in read ? 'has another form than it must' : 'is missing';
        throw manifestInvalid(`${where} is no whole entry: its field ${field} ${got}.`, { field });
      }
      const entry = read as unknown as S;
      if (entry.from > entry.to) {
        throw manifestInvalid(`${where} is no whole entry: its range ${entry.from}-${entry.to} is reversed.`);
      }
      if (toLine(entry) === line) return entry;
      throw manifestInvalid(
        `${where} is not in the canonical form: it has other fields, another order or other spaces.`,
      );
    },
  };
}

function parseObject(line: string, where: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw manifestInvalid(`${where} is no JSON: it was cut off or changed.`);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>;
  }
  throw manifestInvalid(`${where} is no entry of a manifest.`);
}

/** The error for a manifest that differs from the published one; `message` is a whole sentence. */
export function manifestInvalid(
  message: string,
  data: Record<string, unknown> = {},
  hint = 'Download the manifest again; if it stays so, ask its publisher.',
): PackhouseError {
  return new PackhouseError({ code: 'MANIFEST_INVALID', message, hint, data });
}
