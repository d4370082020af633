import { z } from 'zod';

const DURATION = /^(\d+(?:\.\d+)?)\s*(ms|s|min|h|d)$/i;
const MILLISECONDS: Record<string, number> = {
  ms: 1,
  s: 1_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** A time with its unit (`90s`, `30min`, `1h`), as milliseconds, at least `min` of them. */
export function durationSetting(description: string, min = 0): z.ZodType<number, string> {
  return z
    .string()
    .regex(DURATION)
    .transform((text) => {
      const [, number, unit] = DURATION.exec(text) as RegExpExecArray;
      return Math.round(Number(number) * (MILLISECONDS[(unit as string).toLowerCase()] as number));
    })
    .refine((value) => value >= min && value <= 2 ** 31 - 1)
    .describe(description);
}
