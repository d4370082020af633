import { PackhouseError } from '@packhouse/runtime';
import type { z } from 'zod';

/** Checks the input of an operation. Throws INPUT_INVALID, which names each bad field without its value. */
export function readInput<S extends z.ZodType>(schema: S, given: unknown): z.output<S> {
  const parsed = schema.safeParse(given ?? {});
  if (parsed.success) return parsed.data;
  const fields = parsed.error.issues.slice(0, 8).map(({ path, message }) => {
    const name = path.map(String).join('.').slice(0, 64);
    return name === '' ? message : `${name}: ${message}`;
  });
  throw new PackhouseError({
    code: 'INPUT_INVALID',
    message: `What was sent does not fit: ${fields.join('; ')}.`,
    data: { fields: parsed.error.issues.map(({ path }) => path.map(String).join('.')) },
  });
}
