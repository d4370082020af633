import type { AlarmRow, Backfill, Database, NodeReportRow, QuarantineRow } from '@packhouse/database';
import { getSilence } from '@packhouse/pipeline';
import { getOrAdd } from '@packhouse/runtime';
import { z } from 'zod';
import { networkField } from '../operation/fields.js';
import { read } from '../operation/operation.js';
import { getWrongUpstreams, listWrongAnswers, WRONG_ANSWERS } from './wrong-answers.js';

/** Something that stands still or is wrong until somebody acts. */
export interface Finding {
  kind: 'nodes-silent' | 'wrong-answer' | 'quarantine' | 'alarm' | 'no-ingester' | 'budget' | 'paused';
  network: string;
  /** What is wrong, as a sentence without its network. */
  message: string;
  /** More of it: an error, or how it goes on by itself. */
  detail: string | null;
  since: Date | null;
  /** When it ends by itself; null: not known, or never. */
  until: Date | null;
  /** Of `wrong-answer`: the first of the blocks. */
  block?: number;
  /** Of `nodes-silent` and `wrong-answer`. */
  upstreams?: string[];
  /** Of `quarantine`. */
  cause?: string;
  /** Of `alarm`: its name. */
  alarm?: string;
  /** Of `paused`: its ID; absent: it is of several. */
  backfill?: number;
}

/** Findings that are listed, and of these such of paused backfills, each of which reads who paused it. */
const MAX_FINDINGS = 100;
const MAX_PAUSED = 10;
const MAX_REPORTS = 10_000;
/** Alarms that other findings say with more of the cause. */
const SAID_OTHERWISE = ['NODES_SILENT'];

export const listFindings = read({
  name: 'findings',
  role: 'viewer',
  sharedForMs: 2_000,
  summary: 'What stands still or is wrong until somebody acts, the worst first, with its cause.',
  input: z.object({ network: networkField.optional() }),
  run: async ({ database }, { network }): Promise<Finding[]> => {
    const [reports, alarms, causes, wrong, backfills, workers, waits] = await Promise.all([
      database.nodes.list({ network, limit: MAX_REPORTS }),
      database.alarms.list(),
      database.quarantine.causes(),
      listWrongAnswers(database, network),
      database.backfills.list(),
      database.workers.list(),
      database.budgets.waits(),
    ]);
    const active = new Set(backfills.filter(({ state }) => state === 'active').map((each) => each.network));
    const led = new Set(
      workers.filter(({ role }) => role === 'ingester').flatMap(({ networks }) => networks),
    );
    const found = [
      ...findSilent(reports),
      ...[...active].filter((id) => !led.has(id)).map(toNoIngester),
      ...findWrongAnswers(wrong),
      ...alarms.filter(({ name }) => !SAID_OTHERWISE.includes(name)).map(toAlarm),
      ...causes.filter(({ cause }) => !WRONG_ANSWERS.includes(cause)).map(toQuarantine),
      ...waits
        .filter((wait) => active.has(wait.network))
        .map(({ network: of, provider, period, until }): Finding => {
          const message = `backfills are throttled by the budget of ${provider} per ${period}.`;
          return { kind: 'budget', network: of, message, detail: null, since: null, until };
        }),
      ...(await findPaused(database, network, backfills)),
    ];
    return found.filter((each) => network === undefined || each.network === network).slice(0, MAX_FINDINGS);
  },
});

function findSilent(reports: readonly NodeReportRow[]): Finding[] {
  return [...groupBy(reports, ({ network }) => network)].flatMap(([network, rows]): Finding[] => {
    const silence = getSilence(rows);
    if (silence === null) return [];
    const { since, nodes: upstreams, lastError } = silence;
    const message = 'no node has answered. Nothing is fetched.';
    return [{ kind: 'nodes-silent', network, message, detail: lastError, since, until: null, upstreams }];
  });
}

const toNoIngester = (network: string): Finding => ({
  kind: 'no-ingester',
  network,
  message: 'no ingester reported in the last 15 s. Nothing is fetched.',
  detail: null,
  since: null,
  until: null,
});

/** One for each node with wrong answers. */
function findWrongAnswers(rows: readonly QuarantineRow[]): Finding[] {
  const entries = rows.flatMap((row) => getWrongUpstreams(row).map((upstream) => ({ upstream, row })));
  const groups = groupBy(entries, ({ upstream, row }) => JSON.stringify([row.network, upstream]));
  return [...groups.values()].flatMap((group): Finding[] => {
    const [first] = group;
    if (first === undefined) return [];
    const { network, firstBlock, message: detail } = first.row;
    const blocks = group.reduce((sum, { row }) => sum + row.lastBlock - row.firstBlock + 1, 0);
    const more = blocks === 1 ? '' : ` and ${formatCount(blocks - 1)} more`;
    return [
      {
        kind: 'wrong-answer',
        network,
        message: `${first.upstream} sent a wrong response for block ${formatCount(firstBlock)}${more}.`,
        detail,
        since: new Date(Math.min(...group.map(({ row }) => row.firstSeen.getTime()))),
        until: new Date(Math.min(...group.map(({ row }) => row.nextTry.getTime()))),
        block: firstBlock,
        upstreams: [first.upstream],
      },
    ];
  });
}

const toAlarm = ({ network, name, message, raisedAt }: AlarmRow): Finding => ({
  kind: 'alarm',
  network,
  message,
  detail: null,
  since: raisedAt,
  until: null,
  alarm: name,
});

const toQuarantine = (row: { network: string; cause: string; blocks: number }): Finding => ({
  kind: 'quarantine',
  network: row.network,
  message: `${formatCount(row.blocks)} ${row.blocks === 1 ? 'block is' : 'blocks are'} in quarantine with ${row.cause}.`,
  detail: null,
  since: null,
  until: null,
  cause: row.cause,
});

const formatCount = (value: number): string => value.toLocaleString('en-US');

function groupBy<T>(rows: readonly T[], toKey: (row: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const row of rows) getOrAdd(groups, toKey(row), () => []).push(row);
  return groups;
}

/** The paused backfills with the change that paused them, in the order of their priority; of more than a few the number. */
async function findPaused(
  database: Database,
  network: string | undefined,
  backfills: readonly Backfill[],
): Promise<Finding[]> {
  const paused = backfills.filter(
    (each) => each.state === 'paused' && (network === undefined || each.network === network),
  );
  const listed = paused.slice(0, MAX_PAUSED).map(async ({ id, network: of }): Promise<Finding> => {
    const changes = await database.changes.list({ subject: `backfill ${id}`, limit: 20 });
    const by = changes.find(({ action }) => action === 'pause');
    const actor = by === undefined ? '' : ` by ${by.actor}`;
    const since = by?.at ?? null;
    const message = `backfill ${id} is paused${actor}.`;
    return { kind: 'paused', network: of, message, detail: null, since, until: null, backfill: id };
  });
  const others = groupBy(paused.slice(MAX_PAUSED), (each) => each.network);
  const rest = [...others].map(([of, { length }]): Finding => {
    const message = `${formatCount(length)} more ${length === 1 ? 'backfill is' : 'backfills are'} paused.`;
    return { kind: 'paused', network: of, message, detail: null, since: null, until: null };
  });
  return [...(await Promise.all(listed)), ...rest];
}
