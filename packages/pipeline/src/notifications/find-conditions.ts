import type { Condition, Database } from '@packhouse/database';
import { getBudgetUsage, type LeaseStore } from '@packhouse/node-rpc';
import type { Context } from '@packhouse/runtime';
import { ALARMS } from '../alarm-names.js';
import { formatTime } from './compose.js';

type Found = Pick<Condition, 'key' | 'name' | 'network' | 'severity' | 'message'>;

interface FindParts {
  context: Pick<Context, 'logger' | 'metrics'>;
  database: Pick<Database, 'budgets' | 'conditions' | 'spending'>;
  /** Where processes share the use of budgets. */
  leases: LeaseStore;
}

/** Alarms that are for today; every other one, also one that is not known here, is critical. */
const WARNINGS = Object.entries(ALARMS).flatMap(([name, { severity }]) =>
  severity === 'warning' ? [name] : [],
);
/** Missed deadlines that are known at a time. */
const MAX_DEADLINES = 1_000;
/** Shares of a budget that are told, the highest last. */
const SHARES = [
  { percent: 80, name: 'BUDGET_NEARLY_EXHAUSTED', severity: 'warning' },
  { percent: 100, name: 'BUDGET_EXHAUSTED', severity: 'critical' },
] as const;

/**
 * Writes down what there is to notify of; returns whether something changed. A family that cannot be read is logged and
 * stays as it is; the others are read all the same.
 */
export async function findConditions(parts: FindParts): Promise<boolean> {
  const { context, database } = parts;
  const { conditions } = database;
  const families = {
    alarm: () => conditions.followAlarms(WARNINGS),
    backfill: async () => conditions.keep('backfill', await findMissedDeadlines(parts)),
    budget: async () => conditions.keep('budget', await findUsedBudgets(parts)),
    schedule: async () => conditions.keep('schedule', await findFailedSchedules(parts)),
  };
  let changed = false;
  for (const [family, find] of Object.entries(families)) {
    try {
      changed = (await find()) || changed;
    } catch (error) {
      context.logger.warn({ family, err: error }, 'what to notify of could not be read; it is tried again');
      const help = 'Looks for something to notify of that failed';
      context.metrics.count('packhouse_notification_looks_failed_total', help, { family });
    }
  }
  return changed;
}

async function findMissedDeadlines({ database }: FindParts): Promise<Found[]> {
  const missed = await database.conditions.missedDeadlines(MAX_DEADLINES);
  return missed.map(({ id, network, owner, deadline }) => ({
    key: `backfill ${id} ${deadline.toISOString()}`,
    name: 'DEADLINE_MISSED',
    network,
    severity: 'warning',
    message: `Backfill ${id} of ${network} (owner ${owner}) is not complete; its deadline was ${formatTime(deadline)}. See \`packhouse backfill show ${id}\`.`,
  }));
}

async function findUsedBudgets({ database, leases }: FindParts): Promise<Found[]> {
  const found: Found[] = [];
  for (const budget of await database.budgets.list()) {
    const { provider, unit, perDay, perMonth } = budget;
    if (perDay === null && perMonth === null) continue;
    const used = await getBudgetUsage(budget, { leases, table: database.spending });
    const periods = [
      { period: 'day', limit: perDay, units: used.ofDay, ends: used.dayEnds },
      { period: 'month', limit: perMonth, units: used.ofMonth, ends: used.monthEnds },
    ];
    for (const { period, limit, units, ends } of periods) {
      for (const { percent, name, severity } of SHARES) {
        if (limit === null || units < (limit * percent) / 100) continue;
        found.push({
          key: `budget ${provider} ${period} ${percent}`,
          name,
          network: null,
          severity,
          message: `At least ${percent} % of the ${limit} ${unit} per ${period} of provider ${provider} are used, until ${formatTime(ends)}. See \`packhouse budget list\`.`,
        });
      }
    }
  }
  return found;
}

async function findFailedSchedules({ database }: FindParts): Promise<Found[]> {
  const failed = await database.conditions.failedSchedules();
  return failed.map(({ name, due, outcome, exitCode, message }) => {
    const code = exitCode === null ? '' : ` with exit code ${exitCode}`;
    const what = outcome === 'missed' ? 'was missed' : `failed${code}`;
    return {
      key: `schedule ${name}`,
      name: outcome === 'missed' ? 'SCHEDULE_MISSED' : 'SCHEDULE_FAILED',
      network: null,
      severity: 'warning',
      message: `The run of schedule ${name} at ${formatTime(due)} ${what}${message === null ? '.' : `: ${message}`}`,
    };
  });
}
