import { useState } from 'preact/hooks';
import { count, dateTime } from '../lib/format.js';
import { useRead } from '../lib/use-read.js';
import { ActionButton } from '../parts/action-button.js';
import { ChangeForm, linesOf, textOf } from '../parts/change-form.js';
import { Empty, Shown } from '../parts/states.js';
import { Table } from '../parts/table.js';

interface Budget {
  provider: string;
  unit: 'requests' | 'units';
  perSecond: number | null;
  perDay: number | null;
  perMonth: number | null;
  weights: Record<string, number>;
  reserve: number;
  pricePerMillion: number | null;
  currency: string | null;
  usedOfDay: number;
  usedOfMonth: number;
  dayEnds: string;
  monthEnds: string;
}

interface Budgets {
  rows: Budget[];
  waits: { network: string; provider: string; period: string; until: string }[];
}

/** What providers of nodes may be asked over all machines, and what of it is used. */
export function Budgets({ mayChange }: { mayChange: boolean }) {
  const reading = useRead<Budgets>('budgets');
  const [chosen, choose] = useState<Budget | 'new' | null>(null);
  return (
    <>
      <h2>Budgets of providers</h2>
      <Shown reading={reading}>
        {({ rows, waits }) => (
          <>
            {waits.map((wait) => (
              <p key={`${wait.network} ${wait.provider}`} class="wait">
                Backfills of <bdi>{wait.network}</bdi> wait for the {wait.period} of{' '}
                <bdi>{wait.provider}</bdi> until {dateTime(wait.until)}.
              </p>
            ))}
            {rows.length === 0 ? (
              <Empty>
                No provider has a budget: nodes are asked as fast as they answer. Set one, so that a contract
                with a provider is kept.
              </Empty>
            ) : (
              <Table
                label="Budgets"
                rows={rows}
                keyOf={(row) => row.provider}
                columns={[
                  { title: 'Provider', cell: (row) => <bdi>{row.provider}</bdi> },
                  {
                    title: 'A second',
                    number: true,
                    cell: (row) =>
                      row.perSecond === null ? 'no limit' : `${count(row.perSecond)} ${row.unit}`,
                  },
                  {
                    title: 'Day (UTC)',
                    cell: (row) => (
                      <Used label={`Day of ${row.provider}`} used={row.usedOfDay} of={row.perDay} />
                    ),
                  },
                  {
                    title: 'Month (UTC)',
                    cell: (row) => (
                      <Used label={`Month of ${row.provider}`} used={row.usedOfMonth} of={row.perMonth} />
                    ),
                  },
                  { title: 'Reserve', number: true, cell: (row) => `${Math.round(row.reserve * 100)} %` },
                  {
                    title: 'Price of a million',
                    number: true,
                    cell: (row) =>
                      row.pricePerMillion === null ? '-' : `${row.pricePerMillion} ${row.currency ?? ''}`,
                  },
                  {
                    title: 'Action',
                    cell: (row) =>
                      mayChange && (
                        <span class="actions">
                          <button type="button" onClick={() => choose(row)}>
                            Change
                          </button>
                          <ActionButton
                            name="budgets/remove"
                            input={{ provider: row.provider }}
                            confirm={`Remove the budget of ${row.provider}? It is asked without a limit then.`}
                            done={reading.again}
                          >
                            Remove
                          </ActionButton>
                        </span>
                      ),
                  },
                ]}
              />
            )}
          </>
        )}
      </Shown>
      {mayChange && chosen === null && (
        <p>
          <button type="button" onClick={() => choose('new')}>
            Set a budget
          </button>
        </p>
      )}
      {chosen !== null && (
        <BudgetForm
          key={chosen === 'new' ? '' : chosen.provider}
          budget={chosen === 'new' ? null : chosen}
          done={() => {
            choose(null);
            reading.again();
          }}
        />
      )}
    </>
  );
}

function Used({ label, used, of }: { label: string; used: number; of: number | null }) {
  if (of === null) return <>{count(used)}, no limit</>;
  return (
    <>
      <progress value={Math.min(used, of)} max={of} aria-label={label} /> {count(used)} of {count(of)}
      {used >= of && <strong class="bad"> used up</strong>}
    </>
  );
}

/** Changes a budget as it was read, or sets a new one. */
function BudgetForm({ budget, done }: { budget: Budget | null; done: () => void }) {
  const number = (form: FormData, field: string): number | null => {
    const text = textOf(form, field);
    return text === undefined ? null : Number(text.replace(/[_,]/g, ''));
  };
  const inputOf = (form: FormData): object => {
    const weights = (linesOf(form, 'weights') ?? []).map((line) => line.split('='));
    return {
      provider: budget?.provider ?? textOf(form, 'provider'),
      unit: textOf(form, 'unit'),
      ...{ perSecond: number(form, 'perSecond'), perDay: number(form, 'perDay') },
      perMonth: number(form, 'perMonth'),
      weights: Object.fromEntries(weights.map(([method = '', units = '']) => [method.trim(), Number(units)])),
      reserve: (number(form, 'reserve') ?? 0) / 100,
      ...{ pricePerMillion: number(form, 'price'), currency: textOf(form, 'currency') ?? null },
      ...(budget === null ? {} : { expected: limitsOf(budget) }),
    };
  };
  const field = (label: string, name: string, value: number | null | undefined) => (
    <label>
      {label} <input name={name} inputMode="decimal" pattern="[0-9_,.]*" defaultValue={value ?? ''} />
    </label>
  );
  return (
    <ChangeForm
      name="budgets/set"
      submit={budget === null ? 'Set' : `Change the budget of ${budget.provider}`}
      subject={`budget ${budget?.provider}`}
      inputOf={inputOf}
      done={done}
    >
      {budget === null && (
        <label>
          Provider, as the networks file names it; there by default the host name of the url{' '}
          <input name="provider" required maxLength={253} />
        </label>
      )}
      <label>
        Counted in{' '}
        <select name="unit">
          <option selected={budget?.unit !== 'units'}>requests</option>
          <option selected={budget?.unit === 'units'}>units</option>
        </select>
      </label>
      {field('A second, empty: no limit', 'perSecond', budget?.perSecond)}
      {field('A day (UTC), empty: no limit', 'perDay', budget?.perDay)}
      {field('A month (UTC), empty: no limit', 'perMonth', budget?.perMonth)}
      {field(
        'Percent that backfills leave to clients and the head',
        'reserve',
        (budget?.reserve ?? 0.1) * 100,
      )}
      <label>
        Units of a request by method, one a line
        <textarea
          name="weights"
          rows={3}
          placeholder="eth_getLogs=75"
          defaultValue={Object.entries(budget?.weights ?? {})
            .map(([method, units]) => `${method}=${units}`)
            .join('\n')}
        />
      </label>
      {field('Price of a million, empty: unknown', 'price', budget?.pricePerMillion)}
      <label>
        Currency <input name="currency" pattern="[A-Z]{3,5}" defaultValue={budget?.currency ?? ''} />
      </label>
      <button type="button" onClick={done}>
        Leave as it is
      </button>
    </ChangeForm>
  );
}

function limitsOf(budget: Budget): object {
  const { unit, perSecond, perDay, perMonth, weights, reserve, pricePerMillion, currency } = budget;
  return { unit, perSecond, perDay, perMonth, weights, reserve, pricePerMillion, currency };
}
