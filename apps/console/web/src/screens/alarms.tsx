import { useState } from 'preact/hooks';
import { ago, dateTime } from '../lib/format.js';
import { useRead } from '../lib/use-read.js';
import { ActionButton } from '../parts/action-button.js';
import { Empty, Shown } from '../parts/states.js';
import { Table } from '../parts/table.js';

interface Alarm {
  network: string;
  name: string;
  message: string;
  raisedAt: string;
  clearedAt: string | null;
  clearedBy: string | null;
}

/** What an operator must look at. */
export function Alarms({ mayChange }: { mayChange: boolean }) {
  const [cleared, setCleared] = useState(false);
  const reading = useRead<Alarm[]>('alarms', cleared ? { cleared } : {});
  return (
    <>
      <h1>Alarms</h1>
      <label class="inline">
        <input type="checkbox" checked={cleared} onChange={() => setCleared(!cleared)} /> also the cleared
        ones
      </label>
      <Shown reading={reading}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty>{cleared ? 'No alarm was ever raised.' : 'No alarm is open.'}</Empty>
          ) : (
            <Table
              label="Alarms"
              rows={rows}
              keyOf={(row) => `${row.network} ${row.name} ${row.raisedAt}`}
              columns={[
                { title: 'Network', cell: (row) => row.network },
                { title: 'Alarm', cell: (row) => <strong>{row.name}</strong> },
                {
                  title: 'Raised',
                  cell: (row) => <span title={dateTime(row.raisedAt)}>{ago(row.raisedAt)}</span>,
                },
                { title: 'Message', cell: (row) => row.message },
                {
                  title: 'State',
                  cell: (row) =>
                    row.clearedAt !== null ? (
                      `cleared ${dateTime(row.clearedAt)} by ${row.clearedBy}`
                    ) : mayChange ? (
                      <ActionButton
                        name="alarms/clear"
                        input={{ network: row.network, name: row.name }}
                        confirm={`Clear ${row.name} of ${row.network}? What it stopped continues with the present state.`}
                        done={reading.again}
                      >
                        Clear
                      </ActionButton>
                    ) : (
                      'open'
                    ),
                },
              ]}
            />
          )
        }
      </Shown>
    </>
  );
}
