import { useState } from 'preact/hooks';
import type { Answer, Input } from '../../lib/answers.js';
import { toNumber, toPairLines, toPairs, toText } from '../../lib/form-values.js';
import { formatCount } from '../../lib/format.js';
import { useIsAdmin } from '../../lib/use-session.js';
import { ChangeForm } from '../../parts/changes.js';
import { Field, LinesField, NumberField } from '../../parts/fields.js';
import { ChangeLogLink } from '../../parts/navigation.js';
import { Page } from '../../parts/page.js';
import { Read } from '../../parts/states.js';
import { Table } from '../../parts/table.js';

type Plan = Answer<'plans'>[number];

const formatLimit = (value: number | null): string => (value === null ? 'unlimited' : formatCount(value));

/** The plans with their limits. */
export function Plans() {
  const [chosen, choose] = useState<Plan | null>(null);
  const isAdmin = useIsAdmin();
  return (
    <Page title="Plans" actions={<ChangeLogLink subject="plan" />}>
      <Read name="plans">
        {(rows) => (
          <>
            <Table
              label="Plans"
              rows={rows}
              keyOf={(row) => row.name}
              numbers={['Units per second', 'Per day', 'Per month', 'Last block', 'Log range', 'Keys']}
              columns={{
                Plan: (row) => <strong>{row.name}</strong>,
                'Units per second': (row) => formatCount(row.unitsPerSecond),
                'Per day': (row) => formatLimit(row.unitsPerDay),
                'Per month': (row) => formatLimit(row.unitsPerMonth),
                'Calls per second': (row) => toPairLines(row.callsPerSecond).join(', ') || 'as units',
                'Last block': (row) => formatLimit(row.maxBlock),
                'Log range': (row) => formatLimit(row.maxLogRange),
                Keys: (row) => formatCount(row.keys),
                Action: (row) =>
                  isAdmin && (
                    <button type="button" onClick={() => choose(row)}>
                      Edit
                    </button>
                  ),
              }}
            />
            {isAdmin && <PlanForm key={chosen?.name} plan={chosen} done={() => choose(null)} />}
          </>
        )}
      </Read>
    </Page>
  );
}

/** Changes a plan as it was read, or creates one. */
function PlanForm({ plan, done }: { plan: Plan | null; done: () => void }) {
  const getInput = (form: FormData): Input<'plans/set'> => {
    const removed = Object.keys(plan?.callsPerSecond ?? {}).map((method) => [method, null]);
    const { name, keys: _, ...expected } = plan ?? ({} as Plan);
    return {
      name: name ?? toText(form, 'name'),
      unitsPerSecond: toNumber(form, 'second') ?? undefined,
      unitsPerDay: toNumber(form, 'day'),
      unitsPerMonth: toNumber(form, 'month'),
      maxBlock: toNumber(form, 'maxBlock'),
      maxLogRange: toNumber(form, 'maxLogRange'),
      callsPerSecond: { ...Object.fromEntries(removed), ...toPairs(form, 'calls') },
      make: plan === null ? true : undefined,
      expected: plan === null ? undefined : expected,
    };
  };
  return (
    <>
      <h2>{plan === null ? 'New plan' : `Plan ${plan.name}`}</h2>
      <ChangeForm
        name="plans/set"
        submit={plan === null ? 'Create' : 'Save'}
        subject={`plan ${plan?.name}`}
        getInput={getInput}
        done={done}
        cancel={plan === null ? undefined : done}
      >
        {plan === null && (
          <Field label="Name" name="name" required pattern="[a-z0-9][a-z0-9\-]*" maxLength={32} />
        )}
        <NumberField label="Units per second" name="second" value={plan?.unitsPerSecond} required />
        <NumberField label="Units per day (empty: unlimited)" name="day" value={plan?.unitsPerDay} />
        <NumberField label="Units per month (empty: unlimited)" name="month" value={plan?.unitsPerMonth} />
        <NumberField label="Last block (empty: unlimited)" name="maxBlock" value={plan?.maxBlock} />
        <NumberField
          label="Max blocks per eth_getLogs (empty: unlimited)"
          name="maxLogRange"
          value={plan?.maxLogRange}
        />
        <LinesField
          label="Calls per second, by method"
          name="calls"
          placeholder="eth_getLogs=5"
          value={toPairLines(plan?.callsPerSecond)}
        />
      </ChangeForm>
    </>
  );
}
