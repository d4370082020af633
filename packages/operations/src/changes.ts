import { z } from 'zod';
import { limitField, numberField } from './operation/fields.js';
import { read } from './operation/operation.js';

export const listChanges = read({
  name: 'changes',
  role: 'viewer',
  sharedForMs: 1_000,
  summary: 'The changes of operators in the last year, newest first, a page at a time.',
  input: z.object({
    subject: z
      .string()
      .min(1)
      .max(300)
      .optional()
      .describe('a thing (`backfill 7`), or a kind of things (`backfill`)'),
    before: numberField(0, Number.MAX_SAFE_INTEGER).optional().describe('changes before this ID'),
    limit: limitField(100, 1_000),
  }),
  run: async ({ database }, { subject, before, limit }) => {
    const found = await database.changes.list({
      subject,
      before,
      limit: limit + 1,
    });
    return { rows: found.slice(0, limit), more: found.length > limit };
  },
});
