import { type Connections, statement } from '../connection/connections.js';
import type { Budget, Budgets, BudgetWait } from '../contract/budgets.js';
import { noteChange } from './changes.js';

const COLUMNS = `provider, unit, per_second AS "perSecond", per_day AS "perDay", per_month AS "perMonth", weights,
  reserve, price_per_million AS "pricePerMillion", currency`;

const selectBudgets = statement(
  'budgets/select',
  `SELECT ${COLUMNS} FROM packhouse.budget ORDER BY provider`,
);

/** Budgets are few, and seldom changed. */
const lockBudgets = statement('budgets/lock', 'LOCK TABLE packhouse.budget IN SHARE ROW EXCLUSIVE MODE');

/** $1 provider. */
const selectBudget = statement(
  'budgets/select-one',
  `SELECT ${COLUMNS} FROM packhouse.budget WHERE provider = $1`,
);

/** $1 provider. */
const deleteBudget = statement('budgets/delete', 'DELETE FROM packhouse.budget WHERE provider = $1');

/** $1 provider, $2 unit, $3 per second, $4 per day, $5 per month, $6 weights, $7 reserve, $8 price, $9 currency. */
const insertBudget = statement(
  'budgets/insert',
  `INSERT INTO packhouse.budget
     (provider, unit, per_second, per_day, per_month, weights, reserve, price_per_million, currency)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
);

/** $1 network, $2 provider, $3 period, $4 until. */
const upsertWait = statement(
  'budgets/upsert-wait',
  `INSERT INTO packhouse.budget_wait (network, provider, period, until) VALUES ($1, $2, $3, $4)
   ON CONFLICT (network) DO UPDATE
   SET provider = excluded.provider, period = excluded.period, until = excluded.until`,
);

/** $1 provider. What waits for a budget that was changed is asked for again. */
const deleteWaits = statement(
  'budgets/delete-waits',
  'DELETE FROM packhouse.budget_wait WHERE provider = $1',
);

const selectWaits = statement(
  'budgets/select-waits',
  `SELECT network, provider, period, until FROM packhouse.budget_wait
   WHERE until > clock_timestamp() ORDER BY network`,
);

/** $1 key. The time is that of Postgres. */
const readState = statement(
  'budgets/read-state',
  `SELECT (extract(epoch FROM clock_timestamp()) * 1000)::int8 AS now,
     (SELECT state::text FROM packhouse.budget_state WHERE key = $1) AS state`,
);

/** $1 key, $2 state before, $3 state after. */
const swapState = statement(
  'budgets/swap-state',
  'UPDATE packhouse.budget_state SET state = $3::jsonb WHERE key = $1 AND state = $2::jsonb RETURNING 1',
);

/** $1 key, $2 state. */
const insertState = statement(
  'budgets/insert-state',
  'INSERT INTO packhouse.budget_state (key, state) VALUES ($1, $2) ON CONFLICT (key) DO NOTHING RETURNING 1',
);

/** $1 key. */
const deleteState = statement('budgets/delete-state', 'DELETE FROM packhouse.budget_state WHERE key = $1');

/** What providers may be asked. */
export function createBudgets(connections: Connections): Budgets {
  return {
    list: () => connections.query<Budget>(selectBudgets, []),
    change: (provider, work, who) =>
      connections.transaction(async (session) => {
        await session.query(lockBudgets, []);
        const [before = null] = await session.query<Budget>(selectBudget, [provider]);
        const after = work(before);
        await session.query(deleteWaits, [provider]);
        if (before !== null) await session.query(deleteBudget, [provider]);
        if (after !== null) {
          await session.query(insertBudget, [
            ...[provider, after.unit, after.perSecond, after.perDay, after.perMonth],
            ...[JSON.stringify(after.weights), after.reserve, after.pricePerMillion, after.currency],
          ]);
        }
        if (before !== null || after !== null) {
          const action = after === null ? 'remove' : before === null ? 'add' : 'set';
          await noteChange(session, {
            ...{ who, action, subject: `budget ${provider}` },
            before: before === null ? null : { ...before },
            after: after === null ? null : { ...after },
          });
        }
        return after;
      }),
    noteWait: async ({ network, provider, period, until }) =>
      void (await connections.query(upsertWait, [network, provider, period, until])),
    waits: () => connections.query<BudgetWait>(selectWaits, []),
    read: async (key) => {
      const [row] = await connections.query<{ state: string | null; now: number }>(readState, [key]);
      return row as { state: string | null; now: number };
    },
    swap: async (key, before, after) => {
      const rows =
        before === null
          ? await connections.query(insertState, [key, after])
          : await connections.query(swapState, [key, before, after]);
      return rows.length > 0;
    },
    forget: async (key) => void (await connections.query(deleteState, [key])),
  };
}
