import { useState } from 'preact/hooks';
import type { Answer } from '../../lib/answers.js';
import { toNumber, toPairLines, toPairs, toText } from '../../lib/form-values.js';
import { formatCount, formatDate } from '../../lib/format.js';
import { ActionButton, ChangeForm, MayChange } from '../../parts/changes.js';
import { Usage } from '../../parts/facts.js';
import { Field, LinesField, NumberField, SelectField } from '../../parts/fields.js';
import { Read } from '../../parts/states.js';
import { type Columns, Table } from '../../parts/table.js';

type Budget = Answer<'budgets'>['rows'][number];

/** Limits of requests to providers over all machines, and their use. */
export function Budgets() {
  const [chosen, choose] = useState<Budget | 'new' | null>(null);
  return (
    <>
      <h2>Provider budgets</h2>
      <Read name="budgets">
        {({ rows, waits }) => (
          <>
            {waits.map((wait) => (
              <p key={`${wait.network} ${wait.provider}`} class="wait">
                Backfills of <bdi>{wait.network}</bdi> are throttled by the budget of{' '}
                <bdi>{wait.provider}</bdi> per {wait.period} until {formatDate(wait.until)}.
              </p>
            ))}
            <Table
              label="Budgets"
              rows={rows}
              keyOf={(row) => row.provider}
              empty="No budgets yet: nodes are called without a limit."
              numbers={['Per second', 'Reserve', 'Price per million']}
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
                  budget={chosen === 'new' ? null : chosen}
                  done={() => choose(null)}
                />
              )}
            </MayChange>
          </>
        )}
      </Read>
    </>
  );
}

const COLUMNS: Columns<Budget> = {
  Provider: (row) => <bdi>{row.provider}</bdi>,
  'Per second': (row) => (row.perSecond === null ? 'unlimited' : `${formatCount(row.perSecond)} ${row.unit}`),
  'Per day (UTC)': (row) => (
    <Usage label={`Use of ${row.provider} today`} used={row.usedOfDay} limit={row.perDay} />
  ),
  'Per month (UTC)': (row) => (
    <Usage label={`Use of ${row.provider} this month`} used={row.usedOfMonth} limit={row.perMonth} />
  ),
  Reserve: (row) => `${Math.round(row.reserve * 100)} %`,
  'Price per million': (row) =>
    row.pricePerMillion === null ? '-' : `${row.pricePerMillion} ${row.currency ?? ''}`,
};

const Actions = ({ row: { provider }, edit }: { row: Budget; edit: () => void }) => (
  <MayChange>
    <span class="actions">
      <button type="button" onClick={edit}>
        Edit
      </button>
      <ActionButton
        name="budgets/remove"
        input={{ provider }}
        confirm={`Remove the budget of ${provider}? Calls to it are then unlimited.`}
      >
        Remove
      </ActionButton>
    </span>
  </MayChange>
);

/** Changes a budget as it was read, or creates one. */
function BudgetForm({ budget, done }: { budget: Budget | null; done: () => void }) {
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
        expected: budget === null ? undefined : getLimits(budget),
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

function getLimits(budget: Budget): object {
  const { unit, perSecond, perDay, perMonth, weights, reserve, pricePerMillion, currency } = budget;
  return { unit, perSecond, perDay, perMonth, weights, reserve, pricePerMillion, currency };
}
