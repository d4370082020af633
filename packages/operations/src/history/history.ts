import {
  HISTORY_FIGURES,
  type HistoryMark,
  type HistorySubject,
  HOUR_DAYS,
  MINUTE_HOURS,
  SPARSE,
} from '@packhouse/database';
import { DAY_MS } from '@packhouse/runtime';
import { z } from 'zod';
import { findKey, keyField } from '../keys/find-key.js';
import { findOwnKey } from '../keys/own.js';
import { dateField, networkField } from '../operation/fields.js';
import { type OperationParts, read } from '../operation/operation.js';
import { invalidInput } from '../operation/read-input.js';
import { chooseSteps, HOUR_MS, MINUTE_MS, toPoints } from './steps.js';

/** The curves of one thing. */
export interface HistoryCurves {
  /** Begin of the first point. */
  from: Date;
  stepSeconds: number;
  /** `minute`, `hour`: what the points are means of. */
  unit: 'minute' | 'hour';
  /** `others`: it has no samples of its own and is summed with others; `none`: nothing of it is kept. */
  kept: 'own' | 'others' | 'none';
  /** By figure, a value for each step; null: unknown. */
  figures: Record<string, (number | null)[]>;
  /** The oldest first. */
  marks: HistoryMark[];
  /** Whether older marks of the range were left out. */
  marksCut: boolean;
}

const MAX_MARKS = 200;
const SPANS = { '1h': HOUR_MS, '6h': 6 * HOUR_MS, '24h': DAY_MS, '7d': 7 * DAY_MS, '30d': 30 * DAY_MS };
const LAST = [...(Object.keys(SPANS) as (keyof typeof SPANS)[]), '365d'] as const;

const rangeFields = {
  last: z
    .enum(LAST, `takes ${LAST.join(', ')}`)
    .default('24h')
    .describe('how long before `until`'),
  from: dateField.optional().describe('begin; instead of `last`'),
  until: dateField.optional().describe('end; default: now'),
};

type RangeInput = z.output<z.ZodObject<typeof rangeFields>>;

export const readHistory = read({
  name: 'history',
  role: 'viewer',
  sharedForMs: 5_000,
  summary:
    'Curves of the installation, or of a network, node, provider or key, with what happened meanwhile: samples of a minute for a week, of an hour for a year.',
  input: z.object({
    network: networkField.optional(),
    upstream: z.string().min(1).max(1_000).optional().describe('a node of the network'),
    provider: z.string().min(1).max(1_000).optional(),
    key: keyField.optional(),
    ...rangeFields,
  }),
  run: async (parts, { network, upstream, provider, key, ...range }): Promise<HistoryCurves> => {
    if ([network, provider, key].filter((given) => given !== undefined).length > 1) {
      throw invalidInput([{ name: 'network', message: 'takes one of network, provider and key' }]);
    }
    if (upstream !== undefined && network === undefined) {
      throw invalidInput([{ name: 'upstream', message: 'needs the network of the node' }]);
    }
    if (key !== undefined) {
      const { id } = await findKey(parts, key);
      return readCurves(parts, { subject: 'key', name: String(id) }, range);
    }
    if (provider !== undefined) return readCurves(parts, { subject: 'provider', name: provider }, range);
    if (network === undefined) return readCurves(parts, { subject: 'installation', name: 'all' }, range);
    if (upstream === undefined)
      return readCurves(parts, { subject: 'network', name: network, network }, range);
    const name = JSON.stringify([network, upstream]);
    return readCurves(parts, { subject: 'node', name, network }, range);
  },
});

export const ownHistory = read({
  name: 'own/history',
  role: 'owner',
  sharedForMs: 5_000,
  summary: 'Curves of the key that signed in: calls, downloads, errors, units and bytes.',
  input: z.object(rangeFields),
  run: async (parts, range): Promise<HistoryCurves> => {
    const { id } = await findOwnKey(parts);
    // What happened to the installation is no business of an owner.
    return readCurves(
      { database: parts.database, marks: false },
      { subject: 'key', name: String(id) },
      range,
    );
  },
});

async function readCurves(
  { database, marks: hasMarks = true }: Pick<OperationParts, 'database'> & { marks?: boolean },
  { subject, name, network }: { subject: HistorySubject; name: string; network?: string },
  range: RangeInput,
): Promise<HistoryCurves> {
  const nowMs = await database.history.counters.nowMs();
  const { fromMs, untilMs } = toRange(range, nowMs);
  const steps = chooseSteps(fromMs, untilMs, nowMs - MINUTE_HOURS * HOUR_MS - MINUTE_MS);
  const unitMs = steps.unit === 'minute' ? MINUTE_MS : HOUR_MS;
  const first = Math.floor(steps.startMs / unitMs);
  const last = Math.ceil(untilMs / unitMs) - 1;
  const since = new Date(steps.startMs);
  const [{ samples, sampled, kept }, marks] = await Promise.all([
    database.history.read({ subject, name, unit: steps.unit, first, last }),
    hasMarks
      ? database.history.marks.list({ since, until: new Date(untilMs), network, limit: MAX_MARKS + 1 })
      : [],
  ]);
  const names: readonly string[] = HISTORY_FIGURES[subject];
  const sparse = kept === 'own' && SPARSE.includes(subject);
  const points = toPoints({ steps, samples, sampled, width: names.length, sparse });
  return {
    from: since,
    stepSeconds: steps.stepMs / 1_000,
    unit: steps.unit,
    kept,
    figures: withLatency(Object.fromEntries(names.map((each, at) => [each, points[at] ?? []]))),
    marks: marks.slice(0, MAX_MARKS).reverse(),
    marksCut: marks.length > MAX_MARKS,
  };
}

/** Throws INPUT_INVALID if it is reversed, or longer than what is kept. */
function toRange({ from, until, last }: RangeInput, nowMs: number): { fromMs: number; untilMs: number } {
  const untilMs = until?.getTime() ?? nowMs;
  const fromMs = from?.getTime() ?? untilMs - (last === '365d' ? 365 * DAY_MS : SPANS[last]);
  if (fromMs >= untilMs) throw invalidInput([{ name: 'from', message: 'takes a date before the end' }]);
  if (untilMs - fromMs > HOUR_DAYS * DAY_MS) {
    throw invalidInput([{ name: 'from', message: `takes a date within ${HOUR_DAYS} days before the end` }]);
  }
  return { fromMs, untilMs };
}

/** Of a node, the mean time of an answer in place of what it is computed from. */
function withLatency(figures: Record<string, (number | null)[]>): HistoryCurves['figures'] {
  const { answers, busyMs, ...others } = figures;
  if (answers === undefined || busyMs === undefined) return figures;
  const latencyMs = answers.map((count, at) => {
    const ms = busyMs[at] ?? null;
    return count === null || ms === null || count === 0 ? null : Number((ms / count).toPrecision(6));
  });
  return { ...others, latencyMs };
}
