import type { Reader } from './reader.js';

/** `,"name":"value"`, `,"name":null`, or nothing if the field is absent; `value` must need no escaping. */
export function member(name: string, value: string | null | undefined): string {
  if (value === undefined) return '';
  return value === null ? `,"${name}":null` : `,"${name}":"${value}"`;
}

/** As `member`, for a value that is JSON already (`true`, `null`, an array). */
export function jsonMember(name: string, json: string | undefined): string {
  return json === undefined ? '' : `,"${name}":${json}`;
}

/** `"value"`, or `null`. */
export function nullable(value: string | null): string {
  return value === null ? 'null' : `"${value}"`;
}

/** The canonical array of strings that need no escaping. */
export function stringArray(values: readonly string[]): string {
  if (values.length === 0) return '[]';
  let text = `["${values[0]}`;
  for (let at = 1; at < values.length; at++) text += `","${values[at]}`;
  return `${text}"]`;
}

/** Deepest nesting of arrays and objects in fields that no table names. */
const MAX_DEPTH = 64;

const HEX = /^0x[0-9a-fA-F]*$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: "everything that is not ASCII" is meant
const NOT_ASCII = /[^\x00-\x7f]/g;

/** A string as JSON in ASCII: texts become bytes by `latin1`, so everything else is written as \uXXXX. */
export function quote(text: string): string {
  return JSON.stringify(text).replace(
    NOT_ASCII,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Names that every object answers to, whose members readers of the text could take for what the language put there. */
const SHADOWING: ReadonlySet<string> = new Set(['__proto__', 'constructor']);
/** Half of a UTF-16 pair, which no UTF-8 text can have: readers of the bytes would each make something else of it. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/** Whether a member that no table names is written; one with a name that shadows, or half a character, is left out. */
export function isKeepable(name: string, value: unknown, depth = 0): boolean {
  if (SHADOWING.has(name) || LONE_SURROGATE.test(name)) return false;
  if (typeof value === 'string') return !LONE_SURROGATE.test(value);
  // what is too deep is refused when it is written
  if (typeof value !== 'object' || value === null || depth === MAX_DEPTH) return true;
  return Object.entries(value).every(([key, item]) => isKeepable(key, item, depth + 1));
}

/**
 * Canonical JSON of a value that no table describes: members in alphabetical order (by UTF-16 code unit), `0x…`
 * strings in lower case, everything else unchanged.
 *
 * @throws RECORD_INVALID for values that JSON cannot express (undefined, Infinity) and beyond 64 levels of nesting
 */
export function jsonText(reader: Reader, field: string, value: unknown, depth = 0): string {
  switch (typeof value) {
    case 'string':
      return quote(HEX.test(value) ? value.toLowerCase() : value);
    case 'number':
      return Number.isFinite(value) ? String(value) : reader.fail(field, 'a finite number', value);
    case 'boolean':
      return String(value);
    case 'object':
      break;
    default:
      return reader.fail(field, 'a JSON value', value);
  }
  if (value === null) return 'null';
  if (depth === MAX_DEPTH) reader.fail(field, `at most ${MAX_DEPTH} levels of nesting`, value);
  if (Array.isArray(value)) {
    // Array.from, not map: a hole must be seen as undefined and refused
    return `[${Array.from(value, (item) => jsonText(reader, field, item, depth + 1)).join(',')}]`;
  }
  const object = value as Readonly<Record<string, unknown>>;
  const members = Object.keys(object)
    .filter((key) => object[key] !== undefined)
    .sort()
    .map((key) => `${quote(key)}:${jsonText(reader, field, object[key], depth + 1)}`);
  return `{${members.join(',')}}`;
}
