import { KINDS } from '@packhouse/chain';
import type { Change, Database, WantedRange } from '@packhouse/database';
import { type RangeReport, rangeReport } from '@packhouse/pipeline';
import { PackhouseError } from '@packhouse/runtime';
import { z } from 'zod';
import { checkTerms, givenTerms, termFields } from './backfill-terms.js';
import { refuseChanged } from './changed-meanwhile.js';
import { blockField, dateField, limitField, networkField, numberField } from './fields.js';
import { type OperationParts, operation } from './operation.js';
import { withMessage } from './wait-messages.js';

const DEFAULT_PRIORITY = 100;
/** Backfills whose progress is read at once. */
const MOST_REPORTS = 50;

const idField = numberField(1, Number.MAX_SAFE_INTEGER).describe('its number');
const stateField = z.enum(['active', 'paused', 'cancelled']);
/** Kinds of an order, also as text with commas between; default: all. */
export const orderedKindsField = z
  .preprocess(
    (value) => (typeof value === 'string' ? value.split(',') : value),
    z.array(z.enum(KINDS)).min(1).max(KINDS.length),
  )
  .default([...KINDS]);

/** What a range was when it was read: what differs by now is not overwritten. */
const expectedField = z
  .object({
    ...{ state: stateField, priority: z.number(), owner: z.string(), weight: z.number() },
    ...{ windows: z.array(z.string()), deadline: dateField.nullable(), maxRequests: z.number().nullable() },
  })
  .partial()
  .optional()
  .describe('fields as they were read: if one differs by now, nothing is changed');

export const listBackfills = operation({
  name: 'backfills',
  kind: 'read',
  role: 'viewer',
  sharedForMs: 1_000,
  summary: 'The ordered ranges, in the order they are worked on, a page at a time.',
  input: z.object({
    network: networkField.optional(),
    state: stateField.optional(),
    after: idField.optional().describe('the page begins after this one'),
    limit: limitField(100),
  }),
  run: async ({ database }, { network, state, after, limit }) => {
    const all = await (network === undefined ? database : database.network(network)).wanted.list();
    const begin = after === undefined ? 0 : all.findIndex(({ id }) => id === after) + 1;
    const found = all.slice(begin).filter((row) => state === undefined || row.state === state);
    return { rows: found.slice(0, limit), more: found.length > limit };
  },
});

export const backfillProgress = operation({
  name: 'backfills/progress',
  kind: 'read',
  role: 'viewer',
  sharedForMs: 2_000,
  summary: `How far backfills are, and what each waits for; ${MOST_REPORTS} at most, those that are unknown left out.`,
  input: z.object({
    ids: z
      .preprocess(
        (value) => (typeof value === 'string' ? value.split(',') : value),
        z.array(idField).min(1).max(MOST_REPORTS),
      )
      .describe('their numbers, with commas between'),
  }),
  run: async (parts, { ids }) => {
    const reports: BackfillReport[] = [];
    for (const id of ids) {
      const range = await parts.database.wanted.find(id);
      if (range !== null) reports.push(await reportOf(parts, range));
    }
    return reports;
  },
});

export const showBackfill = operation({
  name: 'backfills/show',
  kind: 'read',
  role: 'viewer',
  sharedForMs: 1_000,
  summary: 'How far a backfill is, what it waits for right now, and who changed it.',
  input: z.object({ id: idField }),
  run: async (parts, { id }): Promise<BackfillReport & { history: Change[] }> => {
    const range = (await parts.database.wanted.find(id)) ?? unknown(id);
    const history = await parts.database.changes.list({ subject: `backfill ${id}` });
    return { ...(await reportOf(parts, range)), history };
  },
});

export const addBackfill = operation({
  name: 'backfills/add',
  kind: 'change',
  role: 'operator',
  summary: 'Orders a range; with a deadline the answer says whether it can be met.',
  input: z.object({
    network: networkField,
    start: blockField,
    end: blockField.nullable().describe('the last block; null: it follows the head'),
    kinds: orderedKindsField,
    ...termFields,
  }),
  run: async (parts, { network, start, end, kinds, ...given }) => {
    if (end !== null && end < start) {
      throw new PackhouseError({
        code: 'RANGE_INVALID',
        message: `The range ${start} to ${end} is reversed: its first block is after its last one.`,
      });
    }
    const terms = givenTerms(given);
    checkTerms({ end }, terms);
    checkDeadline(parts, terms.deadline);
    const asked = KINDS.filter((kind) => kinds.includes(kind));
    const order = { kinds: asked, start, end, priority: DEFAULT_PRIORITY, ...terms };
    const range = await parts.database.network(network).wanted.add(order, parts.who);
    return { range, outlook: await outlookOf(parts, range) };
  },
});

export const setBackfill = operation({
  name: 'backfills/set',
  kind: 'change',
  role: 'operator',
  summary: 'Changes terms of a backfill.',
  input: z.object({ id: idField, ...termFields, expected: expectedField }),
  run: async (parts, { id, expected, ...given }) => {
    const terms = givenTerms(given);
    checkDeadline(parts, terms.deadline);
    const check = (before: WantedRange): void => {
      refuseChanged(`Backfill ${id}`, { ...before }, expected);
      checkTerms(before, terms);
    };
    const changed = await parts.database.wanted.change(id, terms, { who: parts.who, check });
    const { before, after } = changed ?? unknown(id);
    return { before, range: after, outlook: await outlookOf(parts, after) };
  },
});

const STATES = { pause: 'paused', resume: 'active', cancel: 'cancelled' } as const;

export const steerBackfill = operation({
  name: 'backfills/steer',
  kind: 'change',
  role: 'operator',
  summary: 'Pauses, resumes or cancels a backfill; what is staged or published stays.',
  input: z.object({ id: idField, action: z.enum(['pause', 'resume', 'cancel']), expected: expectedField }),
  run: async ({ database, who }, { id, action, expected }) => {
    const check = (before: WantedRange): void => refuseChanged(`Backfill ${id}`, { ...before }, expected);
    const changed = await database.wanted.change(id, { state: STATES[action] }, { who, action, check });
    return (changed ?? unknown(id)).after;
  },
});

/** How far a backfill is, with what it waits for in sentences. */
export type BackfillReport = Omit<RangeReport, 'waits'> & {
  waits: (RangeReport['waits'][number] & { message: string })[];
};

async function reportOf(
  parts: Pick<OperationParts, 'database' | 'queue'>,
  range: WantedRange,
): Promise<BackfillReport> {
  const report = await rangeReport(parts, range);
  return { ...report, waits: report.waits.map(withMessage) };
}

/** Of a range with a deadline. */
async function outlookOf(
  parts: { database: Database; queue?: OperationParts['queue'] },
  range: WantedRange,
): Promise<Pick<RangeReport, 'range' | 'rate' | 'deadline'> | null> {
  if (range.deadline === null) return null;
  const { rate, deadline } = await rangeReport(parts, range);
  return { range, rate, deadline };
}

function checkDeadline({ context }: OperationParts, deadline: Date | null | undefined): void {
  if (!deadline || deadline.getTime() > context.clock.now()) return;
  throw new PackhouseError({
    code: 'INPUT_INVALID',
    message: `The deadline takes a date in the future, got ${deadline.toISOString()}.`,
  });
}

function unknown(id: number): never {
  throw new PackhouseError({
    code: 'BACKFILL_UNKNOWN',
    message: `There is no backfill ${id}.`,
    hint: 'See `packhouse backfill list`.',
  });
}
