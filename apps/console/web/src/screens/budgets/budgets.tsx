import { useState } from 'preact/hooks';
import { CurveButton } from '../../history/curve-button.js';
import { toNumber, toPairLines, toPairs, toText } from '../../lib/form-values.js';
import { formatTime } from '../../lib/format.js';
import { useRoute } from '../../lib/route.js';
import { useRead } from '../../lib/use-read.js';
import { ActionButton, ChangeForm, MayChange } from '../../parts/changes.js';
import { Usage } from '../../parts/facts.js';
import { Field, LinesField, NumberField, SelectField } from '../../parts/fields.js';
import { Read } from '../../parts/states.js';
import { type Columns, Table } from '../../parts/table.js';
import { type Budget, Cap, getTerms, type Row } from './cap.js';

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

/** Changes a budget as it was read, or creates one. */
function BudgetForm(given: { budget: Budget | null; provider?: string | undefined; done: () => void }) {
  const { budget, provider, done } = given;
  return (
    <ChangeForm
      name="budgets/set"
      submit={budget === null ? 'Create' : 'Save'}
      subject={`budget ${budget?.provider}`}
      getInput={(form) => ({
        provider: budget?.provider ?? toText(form, 'provider'),
        unit: toText(form, 'unit'),
        perSecond: toNumber(form, 'perSecond'),
        perDay: toNumber(form, 'perDay'),
        perMonth: toNumber(form, 'perMonth'),
        weights: toPairs(form, 'weights'),
        reserve: (toNumber(form, 'reserve') ?? 0) / 100,
        pricePerMillion: toNumber(form, 'price'),
        currency: toText(form, 'currency') ?? null,
        expected: budget === null ? undefined : getTerms(budget),
      })}
      done={done}
      cancel={done}
    >
      {budget === null ? (
        <Field
          label="Provider (as in the networks file; default there: the host name of the URL)"
          name="provider"
          required
          maxLength={253}
          defaultValue={provider}
        />
      ) : (
        <h2>Budget of {budget.provider}</h2>
      )}
      <SelectField label="Unit" name="unit" options={['requests', 'units']} value={budget?.unit} />
      <NumberField label="Per second (empty: unlimited)" name="perSecond" value={budget?.perSecond} decimal />
      <NumberField label="Per day, UTC (empty: unlimited)" name="perDay" value={budget?.perDay} />
      <NumberField label="Per month, UTC (empty: unlimited)" name="perMonth" value={budget?.perMonth} />
      <NumberField
        label="Reserve for live traffic (%)"
        name="reserve"
        value={(budget?.reserve ?? 0.1) * 100}
        decimal
      />
      <LinesField
        label="Units per request, by method"
        name="weights"
        placeholder="eth_getLogs=75"
        value={toPairLines(budget?.weights)}
      />
      <NumberField
        label="Price per million (empty: unknown)"
        name="price"
        value={budget?.pricePerMillion}
        decimal
      />
      <Field label="Currency" name="currency" pattern="[A-Z]{3,5}" defaultValue={budget?.currency ?? ''} />
    </ChangeForm>
  );
}
