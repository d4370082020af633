import { PackhouseError } from '@packhouse/runtime';
import type { z } from 'zod';
import { fail } from './fail.js';

/** Checks the input of an operation. Throws INPUT_INVALID, which names each bad field without its value. */
export function readInput<S extends z.ZodType>(schema: S, given: unknown): z.output<S> {
  const parsed = schema.safeParse(given ?? {});
  if (parsed.success) {
    if (!hasNul(parsed.data)) return parsed.data;
    fail('INPUT_INVALID', 'A text has the character U+0000, which Postgres cannot store.');
  }
  throw invalidInput(
    parsed.error.issues.slice(0, 8).map((issue) => {
      return { name: issue.path.map(String).join('.').slice(0, 64), message: describeIssue(issue) };
    }),
  );
}

/** A choice whose field says nothing of its own is told as the choices. */
function describeIssue(issue: z.core.$ZodIssue): string {
  const isUsual = issue.code === 'invalid_value' && issue.message.startsWith('Invalid ');
  return isUsual ? `takes ${issue.values.map(String).join(', ')}` : issue.message;
}

/** The error of fields that do not fit. */
export function invalidInput(fields: readonly { name: string; message: string }[]): PackhouseError {
  const texts = fields.map(({ name, message }) => (name === '' ? message : `${name}: ${message}`));
  return new PackhouseError({
    code: 'INPUT_INVALID',
    message: `Invalid input: ${texts.join('; ')}.`,
    data: { fields },
  });
}

function hasNul(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\0');
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some((pair) => pair.some(hasNul));
}
