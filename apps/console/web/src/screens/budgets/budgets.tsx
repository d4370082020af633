import { useState } from 'preact/hooks';
import { CurveButton } from '../../history/curve-button.js';
import { formatTime } from '../../lib/format.js';
import { useRead } from '../../lib/hooks/use-read.js';
import { useRoute } from '../../lib/route.js';
import { ActionButton, ChangeForm, MayChange } from '../../parts/changes.js';
import { Usage } from '../../parts/facts.js';
import { choice, number, pairs, text } from '../../parts/form-fields.js';
import { Read } from '../../parts/states.js';
import { type Columns, Table } from '../../parts/table.js';
import { type Budget, Cap, type Row } from './cap.js';

/** Limits of requests to providers over all machines, and their use. */
export function Budgets() {
  return (
    <>
      <h2>Provider budgets</h2>
      <Read name="budgets">
        {({ rows, waits }) => (
          <>
            {waits.map((wait) => (
              <p key={`${wait.network} ${wait.provider}`} class="wait">
                Backfills of <bdi>{wait.network}</bdi> are throttled by the budget of{' '}
                <bdi>{wait.provider}</bdi> per {wait.period}, from {formatTime(wait.since)} until{' '}
                {formatTime(wait.until)}.
              </p>
            ))}
            <BudgetTable budgets={rows} />
          </>
        )}
      </Read>
    </>
  );
}

/** The budgets, and the providers of nodes that have none; that of the address is opened. */
function BudgetTable({ budgets }: { budgets: readonly Budget[] }) {
  const { provider: named } = useRoute().query;
  const [chosen, choose] = useState<Row | 'new' | null>(() =>
    named === undefined
      ? null
      : (budgets.find(({ provider }) => provider === named) ?? { provider: named, isNew: true }),
  );
  const nodes = useRead('nodes', {}, 30_000).value ?? [];
  const known = new Set(budgets.map(({ provider }) => provider));
  const others = [...new Set(nodes.flatMap(({ provider }) => provider ?? []))]
    .filter((provider) => !known.has(provider))
    .sort()
    .map((provider) => ({ provider, isNew: true }) as const);
  return (
    <>
      <Table<Row>
        label="Budgets"
        rows={[...budgets, ...others]}
        keyOf={(row) => row.provider}
        empty="No budgets yet. Calls to nodes are unlimited."
        numbers={['Reserve', 'Price per million']}
        columns={{ ...COLUMNS, Action: (row) => <Actions row={row} edit={() => choose(row)} /> }}
      />
      <MayChange>
        {chosen === null ? (
          <p>
            <button type="button" onClick={() => choose('new')}>
              New budget
            </button>
          </p>
        ) : (
          <BudgetForm
            key={chosen === 'new' ? '' : chosen.provider}
            budget={chosen === 'new' || 'isNew' in chosen ? null : chosen}
            provider={chosen === 'new' ? undefined : chosen.provider}
            done={() => choose(null)}
          />
        )}
      </MayChange>
    </>
  );
}

const COLUMNS: Columns<Row> = {
  Provider: ({ provider }) => <bdi>{provider}</bdi>,
  'Per second': (row) => <Cap row={row} limit="perSecond" />,
  'Per day (UTC)': (row) => (
    <>
      <Cap row={row} limit="perDay" />
      {'isNew' in row || (
        <Usage label={`Use of ${row.provider} today`} used={row.usedOfDay} limit={row.perDay} />
      )}
    </>
  ),
  'Per month (UTC)': (row) => (
    <>
      <Cap row={row} limit="perMonth" />
      {'isNew' in row || (
        <Usage label={`Use of ${row.provider} this month`} used={row.usedOfMonth} limit={row.perMonth} />
      )}
    </>
  ),
  Reserve: (row) => ('isNew' in row ? '-' : `${Math.round(row.reserve * 100)} %`),
  'Price per million': (row) =>
    'isNew' in row || row.pricePerMillion === null ? '-' : `${row.pricePerMillion} ${row.currency ?? ''}`,
  'Units, cost': ({ provider }) => <CurveButton of={{ provider }} figure="units" />,
};

const Actions = ({ row, edit }: { row: Row; edit: () => void }) => (
  <MayChange>
    <span class="actions">
      <button type="button" onClick={edit}>
        {'isNew' in row ? 'Set' : 'Edit'}
      </button>
      {'isNew' in row || (
        <ActionButton
          name="budgets/remove"
          input={{ provider: row.provider }}
          confirm={`Remove the budget of ${row.provider}? Calls to it are then unlimited.`}
        >
          Remove
        </ActionButton>
      )}
    </span>
  </MayChange>
);

const PROVIDER = text('Provider (as in the networks file; default there: the host name of the URL)', {
  required: true,
  maxLength: 253,
});
const TERMS = {
  unit: choice('Unit', ['requests', 'units']),
  perSecond: number('Per second (empty: unlimited)', { decimal: true }),
  perDay: number('Per day, UTC (empty: unlimited)'),
  perMonth: number('Per month, UTC (empty: unlimited)'),
  reserve: number('Reserve for live traffic (%)', { decimal: true, required: true, scale: 100 }),
  pricePerMillion: number('Price per million (empty: unknown)', { decimal: true }),
  currency: text('Currency', { pattern: '[A-Z]{3,5}', empty: null }),
  weights: pairs('Units per request, by method', 'eth_getLogs=75'),
};

/** Changes a budget as it was read, or creates one. */
function BudgetForm(given: { budget: Budget | null; provider?: string | undefined; done: () => void }) {
  const { budget, provider = budget?.provider, done } = given;
  return (
    <>
      <h2>{budget === null ? 'New budget' : `Budget of ${budget.provider}`}</h2>
      <ChangeForm
        name="budgets/set"
        submit={budget === null ? 'Create' : 'Save'}
        subject={`budget ${provider}`}
        fields={budget === null ? { provider: PROVIDER, ...TERMS } : TERMS}
        input={budget === null ? {} : { provider }}
        row={budget}
        defaults={{ provider, reserve: 0.1 }}
        done={done}
        cancel={done}
      />
    </>
  );
}
