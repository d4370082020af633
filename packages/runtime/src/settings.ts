import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { PackhouseError } from './catalogue.js';
import { PROXIES } from './connections/outgoing.js';
import { LOG_LEVELS, type LogLevel } from './observe/logger.js';
import { redact } from './observe/redact.js';
import { DAY_MS } from './time/clock.js';

/** A schema of environment variables: one zod object, each field described by meaning, unit, default, example. */
export type SettingsSchema = z.ZodObject<z.ZodRawShape>;

/**
 * Reads the environment once into a frozen object.
 *
 * An empty variable counts as absent. `NAME_FILE` names a file with the value of `NAME`, for secrets that do not belong
 * into an environment; both at once are refused. Throws SETTINGS_INVALID, which lists all bad variables with their
 * value (without credentials) and the expected form.
 */
export function loadSettings<S extends SettingsSchema>(
  schema: S,
  env: Record<string, string | undefined>,
): Readonly<z.infer<S>> {
  const seen: Record<string, string> = {};
  const unread = new Map<string, string>();
  for (const name of Object.keys(schema.shape)) {
    const { value, problem } = readVariable(env, name, !Object.hasOwn(schema.shape, `${name}_FILE`));
    if (problem !== undefined) unread.set(name, problem);
    else if (value !== '') seen[name] = value;
  }
  const parsed = schema.safeParse(seen);
  if (parsed.success && unread.size === 0) return Object.freeze(parsed.data);
  const issues = (parsed.error?.issues ?? []).filter(({ path }) => !unread.has(String(path[0])));
  const bad = issues.map((issue) => {
    const name = String(issue.path[0] ?? '?');
    const field = schema.shape[name] as z.ZodType | undefined;
    const value = seen[name];
    if (field === undefined) return issue.message;
    const expected = getDescription(field) ?? issue.message;
    const secret = SECRET_NAME.test(name) || (env[name]?.trim() ?? '') === '';
    return `${name}: ${seenValue(value, secret)}, expected ${expected}`;
  });
  throw new PackhouseError({
    code: 'SETTINGS_INVALID',
    message: `The environment is not usable: ${[...unread.values(), ...bad].join('; ')}.`,
    hint: 'Every variable is described in .env.example.',
    data: { variables: [...unread.keys(), ...issues.map((issue) => String(issue.path[0] ?? '?'))] },
  });
}

/** The value of a variable, or of the file that `NAME_FILE` names, trimmed; or why it is not known. */
function readVariable(
  env: Record<string, string | undefined>,
  name: string,
  mayBeFile: boolean,
): { value: string; problem?: string } {
  const value = env[name]?.trim() ?? '';
  const file = `${name}_FILE`;
  const path = mayBeFile ? (env[file]?.trim() ?? '') : '';
  if (path === '') return { value };
  if (value !== '') return { value, problem: `${name}: it and ${file} are both set, expected one of them` };
  try {
    const text = readFileSync(path, 'utf8').trim();
    if (text !== '') return { value: text };
    return { value, problem: `${file}: the file ${path} is empty, expected the value of ${name}` };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return {
      value,
      problem: `${file}: the file ${path} cannot be read (${code}), expected the value of ${name}`,
    };
  }
}

/** The description of a field, also inside a default or an optional. */
function getDescription(field: z.core.$ZodType): string | undefined {
  const own = field instanceof z.ZodType ? field.description : undefined;
  const { innerType } = field._zod.def as { innerType?: z.core.$ZodType };
  return own ?? (innerType === undefined ? undefined : getDescription(innerType));
}

/** Values of these variables, and of files, are never shown, even if invalid. */
const SECRET_NAME = /KEY|SECRET|PASSWORD|TOKEN|CREDENTIAL/i;
const MAX_SHOWN = 120;

function seenValue(value: string | undefined, secret: boolean): string {
  if (value === undefined) return 'it is not set';
  if (secret) return 'got a value that is not shown';
  const safe = redact(value);
  return `got "${safe.length > MAX_SHOWN ? `${safe.slice(0, MAX_SHOWN)}…` : safe}"`;
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

const TIME = /^(\d+(?:\.\d+)?)\s*(ms|s|min|h|d)$/i;
const TIME_UNITS: Record<string, number> = {
  ms: 1,
  s: 1_000,
  min: 60_000,
  h: 3_600_000,
  d: DAY_MS,
};

/** A time with its unit (`90s`, `30min`, `1h`), as milliseconds, at least `min` of them. */
export function durationSetting(description: string, min = 0): z.ZodType<number, string> {
  return z
    .string()
    .regex(TIME)
    .transform((text) => {
      const [, number, unit] = TIME.exec(text) as RegExpExecArray;
      return Math.round(Number(number) * (TIME_UNITS[(unit as string).toLowerCase()] as number));
    })
    .refine((value) => value >= min && value <= 2 ** 31 - 1)
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

/** `LOG_LEVEL`; default info. */
export function logLevelSetting(): z.ZodType<LogLevel, string | undefined> {
  return z
    .string()
    .toLowerCase()
    .pipe(z.enum(LOG_LEVELS))
    .default('info')
    .describe(`one of ${LOG_LEVELS.join(', ')} (default info)`);
}

/** This machine, which no proxy reaches. */
const LOOPBACK = 'localhost,127.0.0.1,[::1]';

/**
 * Completes the environment of a process before anything reads it: variables of the file `.env` in its folder, of which
 * those that are set already stay, and this machine as an exception from proxies. Throws SETTINGS_INVALID.
 */
export function completeEnvironment(host: Pick<NodeJS.Process, 'env' | 'loadEnvFile'>): void {
  try {
    host.loadEnvFile();
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') {
      throw new PackhouseError({
        code: 'SETTINGS_INVALID',
        message: `The file .env in this folder cannot be read: ${(cause as Error).message}.`,
        hint: 'Make it readable, or run the command in another folder.',
        cause,
      });
    }
  }
  const { env } = host;
  const proxies = PROXIES.filter((name) => env[name]);
  for (const name of proxies) {
    if (URL.canParse(env[name] as string)) continue;
    throw new PackhouseError({
      code: 'SETTINGS_INVALID',
      message: `${name} is not the address of a proxy.`,
      hint: 'For example http://proxy.example.com:3128.',
    });
  }
  const direct = env.no_proxy ?? env.NO_PROXY;
  if (proxies.length === 0 || direct === '*') return;
  env[env.no_proxy === undefined ? 'NO_PROXY' : 'no_proxy'] = direct ? `${direct},${LOOPBACK}` : LOOPBACK;
}
