import { useState } from 'preact/hooks';
import { count } from '../lib/format.js';
import { hrefOf } from '../lib/route.js';
import { useRead } from '../lib/use-read.js';
import { ChangeForm, linesOf, textOf } from '../parts/change-form.js';
import { Shown } from '../parts/states.js';
import { Table } from '../parts/table.js';

export interface Plan {
  name: string;
  unitsPerSecond: number;
  unitsPerDay: number | null;
  unitsPerMonth: number | null;
  callsPerSecond: Record<string, number>;
  maxBlock: number | null;
  keys: number;
}

const limit = (value: number | null): string => (value === null ? 'no limit' : count(value));
const callLines = (calls: Plan['callsPerSecond']): string[] =>
  Object.entries(calls).map(([method, most]) => `${method}=${most}`);

/** The plans with their limits. */
export function Plans({ isAdmin }: { isAdmin: boolean }) {
  const reading = useRead<Plan[]>('plans');
  const [chosen, choose] = useState<Plan | null>(null);
  return (
    <>
      <p>
        <a href={hrefOf('keys')}>Keys</a>
      </p>
      <h1>Plans</h1>
      <Shown reading={reading}>
        {(rows) => (
          <Table
            label="Plans"
            rows={rows}
            keyOf={(row) => row.name}
            columns={[
              { title: 'Plan', cell: (row) => <strong>{row.name}</strong> },
              { title: 'Units a second', number: true, cell: (row) => count(row.unitsPerSecond) },
              { title: 'A day', number: true, cell: (row) => limit(row.unitsPerDay) },
              { title: 'A month', number: true, cell: (row) => limit(row.unitsPerMonth) },
              {
                title: 'Calls a second',
                cell: (row) => callLines(row.callsPerSecond).join(', ') || 'as units',
              },
              { title: 'Last block', number: true, cell: (row) => limit(row.maxBlock) },
              { title: 'Keys', number: true, cell: (row) => count(row.keys) },
              {
                title: 'Action',
                cell: (row) =>
                  isAdmin && (
                    <button type="button" onClick={() => choose(row)}>
                      Change
                    </button>
                  ),
              },
            ]}
          />
        )}
      </Shown>
      {isAdmin && (
        <PlanForm
          key={chosen?.name}
          plan={chosen}
          done={() => {
            choose(null);
            reading.again();
          }}
        />
      )}
    </>
  );
}

/** Changes a plan as it was read, or makes one. */
function PlanForm({ plan, done }: { plan: Plan | null; done: () => void }) {
  const inputOf = (form: FormData): object => {
    const number = (field: string): number | null => {
      const text = textOf(form, field);
      return text === undefined ? null : Number(text.replace(/[_,]/g, ''));
    };
    const calls: Record<string, number | null> = Object.fromEntries(
      Object.keys(plan?.callsPerSecond ?? {}).map((method) => [method, null]),
    );
    for (const line of linesOf(form, 'calls') ?? []) {
      const [method = '', most = ''] = line.split('=');
      calls[method.trim()] = Number(most);
    }
    const { name, keys: _, ...expected } = plan ?? ({} as Plan);
    return {
      ...{ name: name ?? textOf(form, 'name'), unitsPerSecond: number('second') ?? undefined },
      ...{ unitsPerDay: number('day'), unitsPerMonth: number('month'), maxBlock: number('maxBlock') },
      callsPerSecond: calls,
      ...(plan === null ? { make: true } : { expected }),
    };
  };
  const field = (label: string, name: string, value: number | null | undefined, required = false) => (
    <label>
      {label}{' '}
      <input
        name={name}
        inputMode="numeric"
        pattern="[0-9_,]*"
        required={required}
        defaultValue={value ?? ''}
      />
    </label>
  );
  return (
    <>
      <h2>{plan === null ? 'A new plan' : `Plan ${plan.name}`}</h2>
      <ChangeForm
        name="plans/set"
        submit={plan === null ? 'Make' : 'Change: every gateway has it within a second'}
        subject={`plan ${plan?.name}`}
        inputOf={inputOf}
        done={done}
      >
        {plan === null && (
          <label>
            Name <input name="name" required pattern="[a-z0-9][a-z0-9\-]*" maxLength={32} />
          </label>
        )}
        {field('Units a second', 'second', plan?.unitsPerSecond, true)}
        {field('Units a day, empty: no limit', 'day', plan?.unitsPerDay)}
        {field('Units a month, empty: no limit', 'month', plan?.unitsPerMonth)}
        {field('Last block, empty: all', 'maxBlock', plan?.maxBlock)}
        <label>
          Calls a second by method, one a line
          <textarea
            name="calls"
            rows={3}
            placeholder="eth_getLogs=5"
            defaultValue={callLines(plan?.callsPerSecond ?? {}).join('\n')}
          />
        </label>
      </ChangeForm>
    </>
  );
}
