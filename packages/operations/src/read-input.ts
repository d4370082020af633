import { PackhouseError } from '@packhouse/runtime';
import type { z } from 'zod';

/** Checks the input of an operation. Throws INPUT_INVALID, which names each bad field without its value. */
export function readInput<S extends z.ZodType>(schema: S, given: unknown): z.output<S> {
  const parsed = schema.safeParse(given ?? {});
  if (parsed.success) {
    if (!hasNul(parsed.data)) return parsed.data;
    throw new PackhouseError({
      code: 'INPUT_INVALID',
      message: 'What was sent has a text with the character U+0000, which Postgres cannot keep.',
    });
  }
  const issues = parsed.error.issues.slice(0, 8);
  const fields = issues.map(({ path, message }) => {
    const name = path.map(String).join('.').slice(0, 64);
    return name === '' ? message : `${name}: ${message}`;
  });
  throw new PackhouseError({
    code: 'INPUT_INVALID',
    message: `What was sent does not fit: ${fields.join('; ')}.`,
    data: { fields: issues.map(({ path }) => path.map(String).join('.').slice(0, 64)) },
  });
}

function hasNul(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\0');
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some((pair) => pair.some(hasNul));
}
