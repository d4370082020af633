import type { WantedRange } from '@packhouse/database';
import { parseTimeWindow } from '@packhouse/pipeline';
import { PackhouseError } from '@packhouse/runtime';
import { z } from 'zod';
import { dateField, numberField } from './fields.js';

export type Terms = Pick<
  WantedRange,
  'priority' | 'owner' | 'weight' | 'windows' | 'deadline' | 'maxRequests'
>;

/** The terms of a range as they are sent; what is left out stays, or is as usual. */
export const termFields = {
  priority: numberField(1, 1_000).optional().describe('1 is first'),
  owner: z
    .string()
    .regex(
      /^[a-z0-9][a-z0-9._-]{0,63}$/,
      'takes 1 to 64 lower-case letters, digits, dots, dashes and underscores',
    )
    .optional()
    .describe('whose it is; owners share a network equally'),
  weight: numberField(1, 1_000).optional().describe('its share beside others of its priority'),
  windows: z
    .array(z.string().min(1).max(200))
    .max(20)
    .optional()
    .describe('it is fetched only then, e.g. Mon-Fri 20:00-06:00 Europe/Berlin; none: always'),
  deadline: dateField.nullable().optional().describe('when it should be there; null: none'),
  maxRequests: numberField(1, 1_000_000_000_000_000).nullable().optional().describe('null: no limit'),
};

/** Terms that are given, with windows as they are stored. Throws WINDOW_INVALID. */
export function givenTerms(given: { [K in keyof Terms]?: Terms[K] | undefined }): Partial<Terms> {
  const { priority, owner, weight, windows, deadline, maxRequests } = given;
  return {
    ...(priority !== undefined && { priority }),
    ...(owner !== undefined && { owner }),
    ...(weight !== undefined && { weight }),
    ...(windows !== undefined && { windows: windows.map((text) => parseTimeWindow(text).text) }),
    ...(deadline !== undefined && { deadline }),
    ...(maxRequests !== undefined && { maxRequests }),
  };
}

/** Refuses terms that need an end for a range that follows the head. Throws USAGE. */
export function checkTerms(
  { end }: Pick<WantedRange, 'end'>,
  { deadline, maxRequests }: Partial<Terms>,
): void {
  const option = deadline ? '--deadline' : maxRequests ? '--max-requests' : null;
  if (end !== null || option === null) return;
  throw new PackhouseError({
    code: 'USAGE',
    message: `${option} needs a last block: a backfill that follows the head has no end.`,
    hint: `Order the history with --to and ${option}, and the head as a backfill of its own.`,
  });
}
