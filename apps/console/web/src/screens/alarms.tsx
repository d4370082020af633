import { useState } from 'preact/hooks';
import { getAlarmCure } from '../lib/alarm-cures.js';
import { formatDate } from '../lib/format.js';
import { useRoute } from '../lib/route.js';
import { ActionButton } from '../parts/changes.js';
import { Ago } from '../parts/facts.js';
import { ButtonLink } from '../parts/navigation.js';
import { Page } from '../parts/page.js';
import { ReadTable } from '../parts/table.js';

/** What needs an operator. */
export function Alarms() {
  const [cleared, setCleared] = useState(false);
  const { network: only } = useRoute().query;
  return (
    <Page title={only === undefined ? 'Alarms' : `Alarms of ${only}`}>
      <label class="inline">
        <input type="checkbox" checked={cleared} onChange={() => setCleared(!cleared)} /> Include cleared
      </label>
      <ReadTable
        name="alarms"
        input={{ ...(only === undefined ? {} : { network: only }), ...(cleared ? { cleared } : {}) }}
        label="Alarms"
        keyOf={(row) => `${row.network} ${row.name} ${row.raisedAt}`}
        empty={cleared ? 'No alarms yet.' : 'No open alarms.'}
        columns={{
          Network: (row) => <bdi>{row.network}</bdi>,
          Alarm: (row) => <strong>{row.name}</strong>,
          Raised: (row) => <Ago at={row.raisedAt} />,
          Message: (row) => <bdi>{row.message}</bdi>,
          'Next step': ({ network, name, clearedAt }) => {
            const cure = clearedAt === null ? getAlarmCure(name, network) : null;
            return cure && <ButtonLink {...cure} />;
          },
          State: ({ network, name, clearedAt, clearedBy, ends }) => {
            if (clearedAt !== null) return `cleared ${formatDate(clearedAt)} by ${clearedBy}`;
            const confirm = `Clear ${name} of ${network}? Work that it stopped resumes.`;
            return (
              <>
                {ends === 'itself' ? 'open; clears itself when the cause is gone' : 'open until cleared'}{' '}
                <ActionButton name="alarms/clear" input={{ network, name }} confirm={confirm}>
                  Clear
                </ActionButton>
              </>
            );
          },
        }}
      />
    </Page>
  );
}
