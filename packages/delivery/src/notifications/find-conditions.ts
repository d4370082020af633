import type { Condition, Database, Severity } from '@packhouse/database';
import { getBudgetUsage, type LeaseStore } from '@packhouse/node-rpc';
import { ALARMS } from '@packhouse/pipeline';
import type { Context } from '@packhouse/runtime';
import { formatTime } from './compose.js';

type Found = Pick<Condition, 'key' | 'name' | 'network' | 'severity' | 'message'>;

interface FindParts {
  context: Pick<Context, 'logger' | 'metrics'>;
  database: Pick<Database, 'budgets' | 'conditions' | 'keys' | 'spending'>;
  /** Where processes share the use of budgets. */
  leases: LeaseStore;
}

/** Alarms that are for today; every other one, also one that is not known here, is critical. */
const WARNINGS = Object.entries(ALARMS).flatMap(([name, { severity }]) =>
  severity === 'warning' ? [name] : [],
);
/** Missed deadlines that are known at a time. */
const MAX_DEADLINES = 1_000;
/** The share of a budget from which on it is told, in percent. */
const NEARLY_PERCENT = 80;
/** Keys in use that expire soon, and are known at a time. */
const MAX_KEYS = 1_000;

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
    key: async () => conditions.keep('key', await findExpiringKeys(parts)),
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

/**
 * Budgets that are nearly used, of which backfills have to leave the rest to clients and the head, and that are used up;
 * all until the next day or month.
 */
async function findUsedBudgets({ database, leases }: FindParts): Promise<Found[]> {
  const found: Found[] = [];
  const waits = await database.budgets.waits();
  for (const budget of await database.budgets.list()) {
    const { provider, unit, perDay, perMonth, reserve } = budget;
    if (perDay === null && perMonth === null) continue;
    const used = await getBudgetUsage(budget, { leases, table: database.spending });
    const periods = [
      { period: 'day', limit: perDay, units: used.ofDay, ends: used.dayEnds },
      { period: 'month', limit: perMonth, units: used.ofMonth, ends: used.monthEnds },
    ];
    for (const { period, limit, units, ends } of periods) {
      if (limit === null) continue;
      const of = `of the ${limit} ${unit} per ${period} of provider ${provider}`;
      const add = (what: string, name: string, severity: Severity, message: string): void => {
        const key = `budget ${provider} ${period} ${what}`;
        const until = `until ${formatTime(ends)}. See \`packhouse budget list\`.`;
        found.push({ key, name, network: null, severity, message: `${message} ${until}` });
      };
      const share = formatPercent(1 - reserve);
      if (units >= (limit * NEARLY_PERCENT) / 100) {
        const stops = reserve > 0 ? `Backfills stop at ${share}, everything at 100 %` : 'All stops at 100 %';
        add('80', 'BUDGET_NEARLY_EXHAUSTED', 'warning', `At least 80 % ${of} are used. ${stops},`);
      }
      // A call that weighs more than what is left stops them a little earlier.
      const stopped =
        waits.some((wait) => wait.provider === provider && wait.period === period) ||
        units >= Math.floor(limit * (1 - reserve));
      if (reserve > 0 && stopped) {
        const rest = `the last ${formatPercent(reserve)} are reserved for clients and the head,`;
        const message = `Backfills are stopped at ${share} ${of}: ${rest}`;
        add('backfills', 'BUDGET_BACKFILLS_STOPPED', 'warning', message);
      }
      if (units >= limit)
        add('100', 'BUDGET_EXHAUSTED', 'critical', `All ${of} are used: nothing is sent to it`);
    }
  }
  return found;
}

const formatPercent = (share: number): string => `${Number((share * 100).toFixed(1))} %`;

/** A key with a later end is another thing than the key before. */
async function findExpiringKeys({ database }: FindParts): Promise<Found[]> {
  const keys = await database.keys.expiring(MAX_KEYS);
  return keys.map(({ application, expiresAt, network, prefix }) => ({
    key: `key ${prefix} ${expiresAt.toISOString()}`,
    name: 'KEY_EXPIRES',
    network,
    severity: 'warning',
    message: `Key ${prefix} of application ${application} is in use and expires on ${formatTime(expiresAt)}. See \`packhouse keys set ${prefix} --expires DATE\`.`,
  }));
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
