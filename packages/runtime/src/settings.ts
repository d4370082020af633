import { z } from 'zod';
import { PackhouseError } from './errors.js';
import { redact } from './logger.js';

/** A schema of environment variables: one zod object, each field described by meaning, unit, default, example. */
export type SettingsSchema = z.ZodObject<z.ZodRawShape>;

/**
 * Reads the environment once into a frozen object.
 *
 * An empty variable counts as absent. Throws SETTINGS_INVALID that lists all bad variables with the value
 * seen (credentials taken out) and the form expected.
 */
export function loadSettings<S extends SettingsSchema>(
  schema: S,
  env: Record<string, string | undefined>,
): Readonly<z.infer<S>> {
  const seen: Record<string, string> = {};
  for (const name of Object.keys(schema.shape)) {
    const value = env[name]?.trim();
    if (value !== undefined && value !== '') seen[name] = value;
  }
  const parsed = schema.safeParse(seen);
  if (parsed.success) return Object.freeze(parsed.data);
  const bad = parsed.error.issues.map((issue) => {
    const name = String(issue.path[0] ?? '?');
    const field = schema.shape[name] as z.ZodType | undefined;
    const value = seen[name];
    const got = value === undefined ? 'it is not set' : `got "${redact(value)}"`;
    const expected = field?.description ?? issue.message;
    return `${name}: ${got}, expected ${expected}`;
  });
  throw new PackhouseError({
    code: 'SETTINGS_INVALID',
    message: `The environment is not usable: ${bad.join('; ')}.`,
    hint: 'Every variable is described in .env.example.',
    data: { variables: parsed.error.issues.map((issue) => String(issue.path[0] ?? '?')) },
  });
}

const SIZE = /^(\d+(?:\.\d+)?)\s*(B|KB|MB|GB|KiB|MiB|GiB)?$/i;
const UNITS: Record<string, number> = {
  b: 1,
  kb: 1_000,
  mb: 1_000_000,
  gb: 1_000_000_000,
  kib: 1_024,
  mib: 1_048_576,
  gib: 1_073_741_824,
};

/** A size in bytes: a number, or one with a unit (`64MiB`). */
export function bytesSetting(description: string): z.ZodType<number, string> {
  return z
    .string()
    .regex(SIZE)
    .transform((text) => {
      const [, number, unit] = SIZE.exec(text) as RegExpExecArray;
      return Math.floor(Number(number) * (UNITS[(unit ?? 'b').toLowerCase()] ?? 1));
    })
    .describe(description);
}

/** A whole number within bounds. */
export function integerSetting(description: string, min: number, max: number): z.ZodType<number, string> {
  return z
    .string()
    .regex(/^\d+$/)
    .transform(Number)
    .refine((value) => value >= min && value <= max)
    .describe(description);
}
