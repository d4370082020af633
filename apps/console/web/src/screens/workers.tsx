import { ago, dateTime, duration } from '../lib/format.js';
import { useRead } from '../lib/use-read.js';
import { ActionButton } from '../parts/action-button.js';
import { Empty, Shown } from '../parts/states.js';
import { Table } from '../parts/table.js';

interface Worker {
  id: string;
  role: string;
  host: string;
  pid: number;
  networks: string[];
  networksDigest: string;
  networksProblem: string | null;
  slots: number;
  doing: { job: string; seconds: number }[];
  draining: boolean;
  startedAt: string;
  seenAt: string;
}

/** Who lives, and what each does. */
export function Workers({ mayChange }: { mayChange: boolean }) {
  const reading = useRead<Worker[]>('workers');
  return (
    <>
      <h1>Workers</h1>
      <p>
        <a href="/jobs/">Jobs</a>: what waits in the queues, and what each job is to do.
      </p>
      <Shown reading={reading}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty>
              No worker was seen in the last 15 s, so nothing is fetched or packed. Start{' '}
              <code>packhouse ingester</code> and <code>packhouse packer</code>, or look at their logs.
            </Empty>
          ) : (
            <>
              {new Set(rows.map((row) => row.networksDigest)).size > 1 && (
                <p class="wait">The workers have different networks files in force.</p>
              )}
              <Table
                label="Workers"
                rows={rows}
                keyOf={(row) => row.id}
                columns={[
                  { title: 'Role', cell: (row) => row.role },
                  {
                    title: 'Process',
                    cell: (row) => (
                      <span title={row.id}>
                        <bdi>{row.host}</bdi> {row.pid} <code>{row.id.slice(0, 8)}</code>
                      </span>
                    ),
                  },
                  {
                    title: 'Since',
                    cell: (row) => <span title={dateTime(row.startedAt)}>{ago(row.startedAt)}</span>,
                  },
                  { title: 'Networks', cell: (row) => <Networks row={row} /> },
                  { title: 'Jobs', cell: (row) => <Jobs row={row} /> },
                  {
                    title: 'State',
                    cell: (row) => (
                      <span class="actions">
                        {row.draining ? (
                          <span class="wait">drains</span>
                        ) : (
                          <span class="good">takes jobs</span>
                        )}
                        {mayChange && (
                          <ActionButton
                            name="workers/drain"
                            input={{ id: row.id, draining: !row.draining }}
                            done={reading.again}
                          >
                            {row.draining ? 'Resume' : 'Drain'}
                          </ActionButton>
                        )}
                      </span>
                    ),
                  },
                ]}
              />
            </>
          )
        }
      </Shown>
    </>
  );
}

function Networks({ row }: { row: Worker }) {
  const [few, more] = [row.networks.slice(0, 5).join(', '), row.networks.length - 5];
  return (
    <>
      <bdi>{few}</bdi>
      {more > 0 && ` and ${more} more`}
      {row.networksProblem !== null && (
        <p class="bad">
          Its networks file was changed and is refused: <bdi>{row.networksProblem}</bdi>
        </p>
      )}
    </>
  );
}

function Jobs({ row }: { row: Worker }) {
  return (
    <>
      {row.doing.length} of {row.slots}
      {row.doing.slice(0, 10).map(({ job, seconds }) => (
        <div key={job}>
          <code>{job}</code> for {duration(seconds * 1_000)}
        </div>
      ))}
    </>
  );
}
