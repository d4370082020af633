import { jsonText, quote } from '../text/json-text.js';
import type { Optional, Raw, Reader } from './reader.js';
import type { FieldTable } from './tables.js';

/** Fields with a form of their own that were found, as name and JSON by turns, in alphabetical order. */
export type Pairs = string[];

/** None was found. */
export const NO_PAIRS: readonly string[] = [];

/** Adds a field that needs no escaping, if it is there. */
export function addPair(pairs: Pairs, name: string, value: Optional<string>): void {
  if (value !== undefined) pairs.push(name, value === null ? 'null' : `"${value}"`);
}

/** Adds a field that is JSON already, if it is there. */
export function addJsonPair(pairs: Pairs, name: string, json: string | undefined): void {
  if (json !== undefined) pairs.push(name, json);
}

/**
 * The members of a record that its table does not name, in alphabetical order, each behind a comma.
 *
 * `specSeen` is how many of the table's fields the record has: where it and the pairs account for every key,
 * which is the rule, nothing needs to be looked for.
 */
export function moreFields(
  reader: Reader,
  raw: Raw,
  table: FieldTable,
  specSeen: number,
  pairs: readonly string[],
): string {
  const keys = Object.keys(raw);
  let text = '';
  if (keys.length === specSeen + pairs.length / 2) {
    for (let at = 0; at < pairs.length; at += 2) text += `,"${pairs[at]}":${pairs[at + 1]}`;
    return text;
  }
  const members: [name: string, text: string][] = [];
  for (let at = 0; at < pairs.length; at += 2) {
    members.push([pairs[at]!, `,"${pairs[at]}":${pairs[at + 1]}`]);
  }
  const written = new Set(members.map(([name]) => name));
  for (const key of keys) {
    if (raw[key] === undefined || table.spec.has(key) || written.has(key)) continue;
    if (!reader.keepExtras && (raw[key] === null || !table.kept.has(key))) continue;
    members.push([key, `,${quote(key)}:${jsonText(reader, key, raw[key])}`]);
  }
  members.sort(([a], [b]) => (a < b ? -1 : 1));
  for (const member of members) text += member[1];
  return text;
}

/** How many of `values` are there: for `specSeen`. */
export function countPresent(...values: readonly unknown[]): number {
  let count = 0;
  for (const value of values) if (value !== undefined) count++;
  return count;
}
