import { useState } from 'preact/hooks';
import type { Answer } from '../../lib/answers.js';
import { formatCount } from '../../lib/format.js';
import { useIsAdmin } from '../../lib/hooks/use-session.js';
import { ChangeForm } from '../../parts/changes.js';
import { number, pairs, text, toPairLines } from '../../parts/form-fields.js';
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

const NAME = text('Name', { required: true, pattern: '[a-z0-9][a-z0-9\\-]*', maxLength: 32 });
const LIMITS = {
  unitsPerSecond: number('Units per second', { required: true }),
  unitsPerDay: number('Units per day (empty: unlimited)'),
  unitsPerMonth: number('Units per month (empty: unlimited)'),
  maxBlock: number('Last block (empty: unlimited)'),
  maxLogRange: number('Max blocks per eth_getLogs (empty: unlimited)'),
  callsPerSecond: pairs('Calls per second, by method', 'eth_getLogs=5'),
};

/** Changes a plan as it was read, or creates one. */
function PlanForm({ plan, done }: { plan: Plan | null; done: () => void }) {
  /** Those that are not listed any more. */
  const removed = Object.keys(plan?.callsPerSecond ?? {}).map((method) => [method, null]);
  return (
    <>
      <h2>{plan === null ? 'New plan' : `Plan ${plan.name}`}</h2>
      <ChangeForm
        name="plans/set"
        submit={plan === null ? 'Create' : 'Save'}
        subject={`plan ${plan?.name}`}
        fields={plan === null ? { name: NAME, ...LIMITS } : LIMITS}
        input={plan === null ? { make: true } : { name: plan.name }}
        row={plan}
        getInput={(_, { callsPerSecond, ...limits }) => ({
          ...limits,
          ...(callsPerSecond
            ? { callsPerSecond: { ...Object.fromEntries(removed), ...callsPerSecond } }
            : {}),
        })}
        done={done}
        cancel={plan === null ? undefined : done}
      />
    </>
  );
}
