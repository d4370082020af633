import type { Backfill, BackfillGroup, Database, NodeHealth, QuarantineRow } from '@packhouse/database';
import { getSilence } from '@packhouse/report';
import { getOrAdd } from '@packhouse/runtime';
import { z } from 'zod';
import { getAdvice } from '../coverage/quarantine-advice.js';
import { networkField } from '../operation/fields.js';
import { read } from '../operation/operation.js';
import { findExpiringKeys } from './expiring-keys.js';
import type { Finding } from './finding.js';
import { foldAlarms } from './fold-alarms.js';
import { findMissingIngesters } from './missing-ingesters.js';
import { getWrongUpstreams, listWrongAnswers, WRONG_ANSWERS } from './wrong-answers.js';

/** Findings that are listed, and of these such of paused backfills. */
const MAX_FINDINGS = 1_000;
const MAX_PAUSED = 10;
const MAX_REPORTS = 10_000;

export const listFindings = read({
  name: 'findings',
  role: 'viewer',
  sharedForMs: 2_000,
  summary: 'What stands still or is wrong until somebody acts, the worst first, with its cause.',
  input: z.object({ network: networkField.optional() }),
  run: async ({ database }, { network }): Promise<Finding[]> => {
    const isAsked = (each: { network: string }): boolean => network === undefined || each.network === network;
    const [reports, alarms, causes, wrong, paused, workers, seen, waits, expiring] = await Promise.all([
      database.nodes.health({ networks: network === undefined ? undefined : [network], limit: MAX_REPORTS }),
      database.alarms.list(),
      database.quarantine.causes(),
      listWrongAnswers(database, network),
      database.backfills.page({ network, state: 'paused', limit: MAX_PAUSED }),
      database.workers.list(),
      database.workers.ingesterSeen(),
      database.budgets.waits(),
      findExpiringKeys(database.keys),
    ]);
    const groups = await database.backfills.groups(paused.rows.map(({ id }) => id));
    const active = groups.filter(({ state }) => state === 'active');
    const requested = new Set(active.map((each) => each.network));
    const causal = [
      ...findSilent(reports),
      ...findMissingIngesters({ active, workers, seen }),
      ...findWrongAnswers(wrong),
      ...causes.filter(({ cause }) => !WRONG_ANSWERS.includes(cause)).map(toQuarantine),
    ];
    const found = [
      ...foldAlarms(causal.filter(isAsked), alarms.filter(isAsked)),
      ...waits.filter((wait) => requested.has(wait.network)).map(toBudget),
      ...expiring,
      ...paused.rows.map(toPaused),
      ...groups.filter(({ state }) => state === 'paused').map(toMorePaused),
    ];
    const rank = (kind: Finding['kind']): number => ORDER.indexOf(kind);
    return found
      .filter(isAsked)
      .sort((a, b) => rank(a.kind) - rank(b.kind))
      .slice(0, MAX_FINDINGS);
  },
});

/** The worst first. */
const ORDER: readonly Finding['kind'][] = [
  'nodes-silent',
  'no-ingester',
  'wrong-answer',
  'alarm',
  'quarantine',
  'budget',
  'key-expires',
  'paused',
];

function findSilent(reports: readonly NodeHealth[]): Finding[] {
  return [...groupBy(reports, ({ network }) => network)].flatMap(([network, rows]): Finding[] => {
    const silence = getSilence(rows);
    if (silence === null) return [];
    const { since, nodes: upstreams, lastError } = silence;
    const message = 'no node has answered. Nothing is fetched.';
    return [
      {
        kind: 'nodes-silent',
        network,
        message,
        detail: lastError,
        since,
        until: null,
        alarms: [],
        upstreams,
      },
    ];
  });
}

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
        alarms: [],
        block: firstBlock,
        upstreams: [first.upstream],
      },
    ];
  });
}

type CauseRow = Awaited<ReturnType<Database['quarantine']['causes']>>[number];

const toQuarantine = ({ blocks, cause, firstSeen, network, nextTry }: CauseRow): Finding => ({
  kind: 'quarantine',
  network,
  message: `${formatCount(blocks)} ${blocks === 1 ? 'block is' : 'blocks are'} in quarantine with ${cause}.`,
  detail: getAdvice({ cause, upstream: null }),
  since: firstSeen,
  until: nextTry,
  alarms: [],
  cause,
});

type BudgetWait = Awaited<ReturnType<Database['budgets']['waits']>>[number];

const toBudget = ({ network, period, provider, since, until }: BudgetWait): Finding => ({
  kind: 'budget',
  network,
  message: `backfills are throttled by the budget of ${provider} per ${period}.`,
  detail: null,
  since,
  until,
  alarms: [],
  provider,
});

const formatCount = (value: number): string => value.toLocaleString('en-US');

function groupBy<T>(rows: readonly T[], toKey: (row: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const row of rows) getOrAdd(groups, toKey(row), () => []).push(row);
  return groups;
}

const toPaused = ({ id, network, stopped }: Backfill): Finding => ({
  kind: 'paused',
  network,
  message: `backfill ${id} is paused${stopped === null ? '' : ` by ${stopped.actor}`}.`,
  detail: stopped?.reason ?? null,
  since: stopped?.at ?? null,
  until: null,
  alarms: [],
  backfill: id,
});

/** Those of a network that are not listed one by one. */
const toMorePaused = ({ backfills, network, stoppedAt }: BackfillGroup): Finding => ({
  kind: 'paused',
  network,
  message: `${formatCount(backfills)} more ${backfills === 1 ? 'backfill is' : 'backfills are'} paused.`,
  detail: null,
  since: stoppedAt,
  until: null,
  alarms: [],
});
