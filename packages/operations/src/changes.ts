import { z } from 'zod';
import { limitField, numberField } from './fields.js';
import { operation } from './operation.js';

export const listChanges = operation({
  name: 'changes',
  kind: 'read',
  role: 'viewer',
  sharedForMs: 1_000,
  summary: 'What operators changed within a year, newest first, a page at a time.',
  input: z.object({
    subject: z
      .string()
      .min(1)
      .max(300)
      .optional()
      .describe('a thing (`backfill 7`), or all of a kind (`backfill`)'),
    before: numberField(0, Number.MAX_SAFE_INTEGER).optional().describe('the page begins below this id'),
    limit: limitField(100, 1_000),
  }),
  run: async ({ database }, { subject, before, limit }) => {
    const found = await database.changes.list({
      ...(subject === undefined ? {} : { subject }),
      ...(before === undefined ? {} : { before }),
      limit: limit + 1,
    });
    return { rows: found.slice(0, limit), more: found.length > limit };
  },
});
