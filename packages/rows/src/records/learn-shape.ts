import { endOfValue, readMember } from '@packhouse/json';
import { hasAll } from './read-columns.js';
import type { Members, RecordMember } from './record-member.js';
import type { Schema } from './schema.js';

const [COMMA, OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET] = [0x2c, 0x7b, 0x7d, 0x5b];

/** As RecordStep of the reader, with members in the place of their numbers. */
interface ShapeStep {
  start: number;
  length: number;
  member: RecordMember | null;
  form: 'value' | 'count' | 'end' | readonly RecordMember[];
}

/** A way through records that have the same members in the same order. */
interface RecordShape {
  steps: readonly ShapeStep[];
  /** Members that they lack. */
  absent: readonly RecordMember[];
}

/**
 * Learns the members of the record at `start`. Objects whose members are columns are walked through; one that is null is of
 * another shape. Returns null if the record has others than columns, or lacks one that is required.
 */
export function learnShape(
  text: Buffer,
  start: number,
  schema: Schema,
  { values, objects, lists, counts }: Members,
): RecordShape | null {
  const steps: ShapeStep[] = [];
  const names = new Set<string>();
  /** What is between the values is the same in all such records. */
  let between = start;
  const addStep = (valueStart: number, member: RecordMember | null, form: ShapeStep['form']): number => {
    steps.push({ start: between, length: valueStart - between, member, form });
    between = endOfValue(text, valueStart);
    return between;
  };
  /** Returns the offset behind the object; -1: it is declined. */
  const walk = (open: number, outer: string): number => {
    let at = open;
    while (text[at] === (at === open ? OPEN_BRACE : COMMA)) {
      const found = readMember(text, at + 1);
      if (found === null) return -1;
      const { nameStart, nameEnd, valueStart } = found;
      const name = outer + text.toString('latin1', nameStart, nameEnd);
      if (names.has(name) || name.includes('\\')) return -1;
      names.add(name);
      const member = values.get(name) ?? null;
      const list = lists.get(name);
      const count = counts.get(name);
      const first = text[valueStart];
      if (outer === '' && objects.has(name)) {
        if (first === OPEN_BRACE) at = walk(valueStart, `${name}.`);
        else at = text.toString('latin1', valueStart, valueStart + 4) === 'null' ? valueStart + 4 : -1;
      } else if (count !== undefined) at = addStep(valueStart, count, 'count');
      else if (list !== undefined) at = first === OPEN_BRACKET ? addStep(valueStart, null, list) : -1;
      else if (member === null && hasAll(schema)) return -1;
      else at = addStep(valueStart, member, 'value');
      if (at === -1) return -1;
    }
    return text[at] === CLOSE_BRACE && at > open ? at + 1 : -1;
  };
  const end = walk(start, '');
  if (end === -1) return null;
  steps.push({ start: between, length: end - between, member: null, form: 'end' });
  const absent: RecordMember[] = [];
  for (const [name, member] of [...values, ...counts]) if (!names.has(name)) absent.push(member);
  for (const [name, list] of lists) if (!names.has(name)) absent.push(...list);
  return absent.some(({ required }) => required) ? null : { steps, absent };
}
