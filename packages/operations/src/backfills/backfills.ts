import { KINDS } from '@packhouse/chain';
import { BACKFILL_FILTERS, type Backfill, type Change, type Database } from '@packhouse/database';
import { type BackfillProgress, getBackfillProgress, readBackfillProgress } from '@packhouse/report';
import { z } from 'zod';
import { expectedField, refuseChanged } from '../operation/changed-meanwhile.js';
import { fail } from '../operation/fail.js';
import {
  blockField,
  checkFuture,
  checkRange,
  dateField,
  limitField,
  networkField,
  numberField,
} from '../operation/fields.js';
import { noteChange } from '../operation/note-change.js';
import { change, type OperationParts, read } from '../operation/operation.js';
import { checkTerms, parseTerms, termFields } from './backfill-terms.js';
import { addMessage } from './wait-messages.js';

const DEFAULT_PRIORITY = 100;
/** Backfills whose progress one request reads. */
const MAX_REPORTS = 50;

const idField = numberField(1, Number.MAX_SAFE_INTEGER).describe('its ID');
const stateField = z.enum(['active', 'paused', 'cancelled']);
/** Kinds of a backfill, also as text with commas between; default: all. */
export const requestedKindsField = z
  .preprocess(
    (value) => (typeof value === 'string' ? value.split(',') : value),
    z.array(z.enum(KINDS)).min(1).max(KINDS.length),
  )
  .default([...KINDS]);

/** The backfill as it was read: a change since then is not overwritten. */
const expected = expectedField({
  state: stateField,
  priority: z.number(),
  owner: z.string(),
  weight: z.number(),
  windows: z.array(z.string()),
  deadline: dateField.nullable(),
  maxRequests: z.number().nullable(),
});

export const listBackfills = read({
  name: 'backfills',
  role: 'viewer',
  sharedForMs: 1_000,
  summary: 'The backfills, in the order of their priority, a page at a time.',
  input: z.object({
    network: networkField.optional(),
    state: z
      .enum(BACKFILL_FILTERS)
      .optional()
      .describe('done: published whole; active: still worked on; paused or cancelled'),
    owner: z.string().min(1).max(64).optional(),
    search: z
      .string()
      .trim()
      .max(100)
      .optional()
      .describe('an ID, a block, or parts of network, owner and kinds'),
    after: idField.optional().describe('backfills after this ID'),
    limit: limitField(100),
  }),
  run: ({ database }, page) => database.backfills.page(page),
});

export const backfillOwners = read({
  name: 'backfills/owners',
  role: 'viewer',
  sharedForMs: 10_000,
  summary: 'The owners of backfills, with how many each has.',
  run: ({ database }) => database.backfills.owners(),
});

export const backfillProgress = read({
  name: 'backfills/progress',
  role: 'viewer',
  sharedForMs: 2_000,
  summary: `Progress of up to ${MAX_REPORTS} backfills, and what each waits for; unknown ones are left out.`,
  input: z.object({
    ids: z
      .preprocess(
        (value) => (typeof value === 'string' ? value.split(',') : value),
        z.array(idField).min(1).max(MAX_REPORTS),
      )
      .describe('IDs, with commas between'),
  }),
  run: async (parts, { ids }): Promise<BackfillReport[]> =>
    (await readBackfillProgress(parts, await parts.database.backfills.findAll(ids))).map(toReport),
});

export const showBackfill = read({
  name: 'backfills/show',
  role: 'viewer',
  sharedForMs: 1_000,
  summary: 'Progress of a backfill, what it waits for, and its changes.',
  input: z.object({ id: idField }),
  run: async (parts, { id }): Promise<BackfillReport & { history: Change[] }> => {
    const range = (await parts.database.backfills.find(id)) ?? unknown(id);
    const history = await parts.database.changes.list({ subject: `backfill ${id}` });
    return { ...(await getReport(parts, range)), history };
  },
});

export const addBackfill = change({
  name: 'backfills/add',
  role: 'operator',
  summary: 'Creates a backfill; with a deadline the response has its outlook.',
  input: z.object({
    network: networkField,
    from: blockField.describe('the first block'),
    to: blockField.nullable().describe('the last block; null: follows the head'),
    kinds: requestedKindsField,
    ...termFields,
  }),
  run: async (parts, { network, from, to, kinds, ...given }) => {
    if (to !== null) checkRange(from, to);
    const terms = parseTerms(given);
    checkTerms({ to }, terms);
    checkFuture(parts.context, 'deadline', terms.deadline);
    const order = {
      kinds: KINDS.filter((kind) => kinds.includes(kind)),
      from,
      to,
      priority: DEFAULT_PRIORITY,
      ...terms,
    };
    const range = await parts.database.network(network).backfills.add(order, parts.actor);
    return { range, outlook: await getOutlook(parts, range) };
  },
});

export const setBackfill = change({
  name: 'backfills/set',
  role: 'operator',
  summary: 'Changes the terms of a backfill.',
  input: z.object({ id: idField, ...termFields, expected }),
  run: async (parts, { id, expected, ...given }) => {
    const terms = parseTerms(given);
    checkFuture(parts.context, 'deadline', terms.deadline);
    const check = (before: Backfill): void => {
      refuseChanged(`Backfill ${id}`, { ...before }, expected);
      checkTerms(before, terms);
    };
    const changed = await parts.database.backfills.change(id, terms, { actor: parts.actor, check });
    const { before, after } = changed ?? unknown(id);
    return { before, range: after, outlook: await getOutlook(parts, after) };
  },
});

const reasonField = z
  .string()
  .trim()
  .min(1)
  .max(500)
  .optional()
  .describe('why it is paused or cancelled; shown with the name of the operator');

/** What the log of changes calls them. */
const ACTIONS = { paused: 'pause', active: 'resume', cancelled: 'cancel' } as const;

export const setBackfillState = change({
  name: 'backfills/state',
  role: 'operator',
  summary: 'Pauses, resumes or cancels a backfill; staged and published blocks stay.',
  input: z.object({ id: idField, state: stateField, reason: reasonField, expected }),
  run: async ({ database, actor }, { id, state, reason, expected }) => {
    const check = (before: Backfill): void => refuseChanged(`Backfill ${id}`, { ...before }, expected);
    const by = { actor, action: ACTIONS[state], reason, check };
    const changed = await database.backfills.change(id, { state }, by);
    return (changed ?? unknown(id)).after;
  },
});

/** Backfills that one request changes. */
const MAX_BULK = 500;
const idsField = z.array(idField).min(1).max(MAX_BULK).describe('their IDs');

/** What became of one of many. */
export interface BulkResult {
  id: number;
  /** Why it was left as it is; null: it was done. */
  refused: string | null;
}

export const setBackfillStates = change({
  name: 'backfills/states',
  role: 'operator',
  summary: `Pauses, resumes or cancels up to ${MAX_BULK} backfills, each as \`backfills/state\` does.`,
  input: z.object({ ids: idsField, state: stateField, reason: reasonField }),
  run: async ({ database, actor }, { ids, state, reason }): Promise<BulkResult[]> => {
    const results: BulkResult[] = [];
    for (const id of new Set(ids)) {
      const before = await database.backfills.find(id);
      if (before === null || before.state === state) {
        results.push({ id, refused: before === null ? 'unknown' : `it is ${state} already` });
        continue;
      }
      await database.backfills.change(id, { state }, { actor, action: ACTIONS[state], reason });
      results.push({ id, refused: null });
    }
    return results;
  },
});

export const retryBackfills = change({
  name: 'backfills/retry',
  role: 'operator',
  summary: `Retries the quarantined blocks of up to ${MAX_BULK} backfills now.`,
  input: z.object({ ids: idsField }),
  run: async (parts, { ids }): Promise<{ id: number; retried: number }[]> => {
    const results: { id: number; retried: number }[] = [];
    for (const id of new Set(ids)) {
      const range = (await parts.database.backfills.find(id)) ?? unknown(id);
      const { quarantine } = parts.database.network(range.network);
      const lastBlock = range.to ?? Number.MAX_SAFE_INTEGER;
      const retried = await quarantine.retry({ firstBlock: range.from, lastBlock });
      if (retried > 0) await noteChange(parts, `backfill ${id}`, 'retry', null, { retried });
      results.push({ id, retried });
    }
    return results;
  },
});

/** The progress of a backfill, and what it waits for in sentences. */
export type BackfillReport = Omit<BackfillProgress, 'waits'> & {
  waits: (BackfillProgress['waits'][number] & { message: string })[];
};

async function getReport(
  parts: Pick<OperationParts, 'database' | 'queue'>,
  range: Backfill,
): Promise<BackfillReport> {
  return toReport(await getBackfillProgress(parts, range));
}

function toReport(report: BackfillProgress): BackfillReport {
  return { ...report, waits: report.waits.map((wait) => addMessage(wait, report.backfill)) };
}

/** Whether the deadline can be met; null: it has none. */
async function getOutlook(
  parts: { database: Database; queue?: OperationParts['queue'] },
  range: Backfill,
): Promise<Pick<BackfillProgress, 'backfill' | 'rate' | 'deadline'> | null> {
  if (range.deadline === null) return null;
  const { rate, deadline } = await getBackfillProgress(parts, range);
  return { backfill: range, rate, deadline };
}

function unknown(id: number): never {
  fail('BACKFILL_UNKNOWN', `Unknown backfill ${id}.`, 'See `packhouse backfill list`.');
}
