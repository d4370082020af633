import type { Backfill } from '@packhouse/database';
import { parseTimeWindow } from '@packhouse/pipeline';
import { z } from 'zod';
import { fail } from '../operation/fail.js';
import { dateField, numberField, withoutUndefined } from '../operation/fields.js';

export type Terms = Pick<Backfill, 'priority' | 'owner' | 'weight' | 'windows' | 'deadline' | 'maxRequests'>;

/** The terms of a backfill as they are sent; one that is left out stays, or is the default. */
export const termFields = {
  priority: numberField(1, 1_000).optional().describe('1 is first'),
  owner: z
    .string()
    .regex(
      /^[a-z0-9][a-z0-9._-]{0,63}$/,
      'takes 1 to 64 lower-case letters, digits, dots, dashes and underscores',
    )
    .optional()
    .describe('owners share a network equally'),
  weight: numberField(1, 1_000).optional().describe('share among backfills of equal priority'),
  windows: z
    .array(z.string().min(1).max(200))
    .max(20)
    .optional()
    .describe('when to fetch, e.g. Mon-Fri 20:00-06:00 Europe/Berlin; none: always'),
  deadline: dateField.nullable().optional().describe('when it should be complete; null: none'),
  maxRequests: numberField(1, 1_000_000_000_000_000).nullable().optional().describe('null: unlimited'),
};

/** The given terms, with windows as they are stored. Throws WINDOW_INVALID. */
export function parseTerms(given: { [K in keyof Terms]?: Terms[K] | undefined }): Partial<Terms> {
  const { priority, owner, weight, deadline, maxRequests } = given;
  const windows = given.windows?.map((text) => parseTimeWindow(text).text);
  return withoutUndefined({ priority, owner, weight, windows, deadline, maxRequests });
}

/** Refuses terms that need a last block. Throws USAGE. */
export function checkTerms(
  { to }: Pick<Backfill, 'to'>,
  { deadline, maxRequests }: { deadline?: unknown; maxRequests?: unknown },
): void {
  const term = deadline ? 'deadline' : maxRequests ? 'limit of requests' : null;
  if (to !== null || term === null) return;
  fail(
    'USAGE',
    `A ${term} needs a last block: a backfill that follows the head has no end.`,
    `Use one backfill with a last block and the ${term} for the history, and another one for the head.`,
  );
}
