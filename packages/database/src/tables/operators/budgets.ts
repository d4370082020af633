import { type Connections, statement } from '../../connection/connections.js';
import { noteChange } from './changes.js';

/** What a provider may be asked, over all machines; days and months are those of UTC. */
export interface Budget {
  /** As upstreams of the networks file name it. */
  provider: string;
  /** Whether every request counts one, or what its method weighs. */
  unit: 'requests' | 'units';
  /** Units; null: no limit. */
  perSecond: number | null;
  perDay: number | null;
  perMonth: number | null;
  /** Units of a request by method, or `other` for those that are not named; 1 where nothing is said. */
  weights: Readonly<Record<string, number>>;
  /** The share that backfills leave to clients and the head, 0 to 0.9. */
  reserve: number;
  /** What a million units cost; null: unknown. */
  pricePerMillion: number | null;
  currency: string | null;
}

/** A network whose backfills wait for a budget. */
type BudgetWait = {
  network: string;
  provider: string;
  period: 'day' | 'month';
  since: Date;
  until: Date;
};

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

/** $1 a budget, as JSON. */
const insertBudget = statement(
  'budgets/insert',
  `INSERT INTO packhouse.budget
     (provider, unit, per_second, per_day, per_month, weights, reserve, price_per_million, currency)
   SELECT provider, unit, "perSecond", "perDay", "perMonth", weights, reserve, "pricePerMillion", currency
   FROM jsonb_to_record($1::jsonb) AS given (provider text, unit text, "perSecond" float8, "perDay" int8,
     "perMonth" int8, weights jsonb, reserve float8, "pricePerMillion" float8, currency text)`,
);

/** $1 network, $2 provider, $3 period, $4 until. One that goes on has begun when it did. */
const upsertWait = statement(
  'budgets/upsert-wait',
  `INSERT INTO packhouse.budget_wait AS w (network, provider, period, until) VALUES ($1, $2, $3, $4)
   ON CONFLICT (network) DO UPDATE
   SET provider = excluded.provider, period = excluded.period, until = excluded.until,
     since = CASE WHEN w.until > clock_timestamp() AND w.provider = excluded.provider AND w.period = excluded.period
       THEN w.since ELSE excluded.since END`,
);

/** $1 provider. What waits for a budget that was changed is asked for again. */
const deleteWaits = statement(
  'budgets/delete-waits',
  'DELETE FROM packhouse.budget_wait WHERE provider = $1',
);

const selectWaits = statement(
  'budgets/select-waits',
  `SELECT network, provider, period, since, until FROM packhouse.budget_wait
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
export function createBudgets(connections: Connections) {
  return {
    /** By provider. */
    list: () => connections.query<Budget>(selectBudgets, []),
    /**
     * Changes the budget of a provider (null: there is none), one after the other, and notes it. Returns what it is then.
     */
    change<B extends Budget | null>(
      provider: string,
      work: (before: Budget | null) => B,
      actor: string,
    ): Promise<B> {
      return connections.transaction(async (session) => {
        await session.query(lockBudgets, []);
        const before = await session.queryOne<Budget>(selectBudget, [provider]);
        const after = work(before);
        await session.query(deleteWaits, [provider]);
        if (before !== null) await session.query(deleteBudget, [provider]);
        if (after !== null) await session.query(insertBudget, [JSON.stringify(after)]);
        if (before !== null || after !== null) {
          const action = after === null ? 'remove' : before === null ? 'add' : 'set';
          await noteChange(session, { actor, action, subject: `budget ${provider}`, before, after });
        }
        return after;
      });
    },
    /** Notes that backfills of a network wait until a budget begins again. */
    noteWait: async ({ network, provider, period, until }: Omit<BudgetWait, 'since'>) =>
      void (await connections.query(upsertWait, [network, provider, period, until])),
    /** Those that wait still. */
    waits: () => connections.query<BudgetWait>(selectWaits, []),
    /** What was taken of a budget: text of a state that is node-rpc's affair; with the time in milliseconds since 1970. */
    read: async (key: string) =>
      (await connections.queryOne<{ state: string | null; now: number }>(readState, [key]))!,
    /** Stores a state if that before is still the one that was read; returns false if it is not. */
    async swap(key: string, before: string | null, after: string): Promise<boolean> {
      const rows =
        before === null
          ? await connections.query(insertState, [key, after])
          : await connections.query(swapState, [key, before, after]);
      return rows.length > 0;
    },
    /** Forgets a state. */
    forget: async (key: string) => void (await connections.query(deleteState, [key])),
  };
}
