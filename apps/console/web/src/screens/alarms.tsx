import { useState } from 'preact/hooks';
import { formatDate } from '../lib/format.js';
import { useMayChange } from '../lib/use-session.js';
import { ActionButton } from '../parts/changes.js';
import { Ago } from '../parts/facts.js';
import { Page } from '../parts/page.js';
import { ReadTable } from '../parts/table.js';

/** What needs an operator. */
export function Alarms() {
  const [cleared, setCleared] = useState(false);
  const mayChange = useMayChange();
  return (
    <Page title="Alarms">
      <label class="inline">
        <input type="checkbox" checked={cleared} onChange={() => setCleared(!cleared)} /> Include cleared
      </label>
      <ReadTable
        name="alarms"
        input={cleared ? { cleared } : {}}
        label="Alarms"
        keyOf={(row) => `${row.network} ${row.name} ${row.raisedAt}`}
        empty={cleared ? 'No alarms yet.' : 'No open alarms.'}
        columns={{
          Network: (row) => row.network,
          Alarm: (row) => <strong>{row.name}</strong>,
          Raised: (row) => <Ago at={row.raisedAt} />,
          Message: (row) => row.message,
          State: ({ network, name, clearedAt, clearedBy }) => {
            if (clearedAt !== null) return `cleared ${formatDate(clearedAt)} by ${clearedBy}`;
            if (!mayChange) return 'open';
            const confirm = `Clear ${name} of ${network}? What it stopped resumes.`;
            return (
              <ActionButton name="alarms/clear" input={{ network, name }} confirm={confirm}>
                Clear
              </ActionButton>
            );
          },
        }}
      />
    </Page>
  );
}
