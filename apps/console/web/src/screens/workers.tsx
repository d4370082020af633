import type { Answer } from '../lib/answers.js';
import { formatDuration } from '../lib/format.js';
import { ActionButton } from '../parts/changes.js';
import { Chip } from '../parts/chip.js';
import { Ago } from '../parts/facts.js';
import { Page } from '../parts/page.js';
import { Read } from '../parts/states.js';
import { Table } from '../parts/table.js';

type Worker = Answer<'workers'>[number];

/** The running workers with their jobs. */
export function Workers() {
  return (
    <Page title="Workers" lead="Running ingesters and packers.">
      <Read name="workers">
        {(rows) => (
          <>
            {new Set(rows.map((row) => row.networksDigest)).size > 1 && (
              <p class="wait">Workers are using different networks files.</p>
            )}
            <Table
              label="Workers"
              rows={rows}
              keyOf={(row) => row.id}
              empty={
                <>
                  No worker reported in the last 15 s, so nothing is fetched or packed. Start{' '}
                  <code>packhouse ingester</code> and <code>packhouse packer</code>, or check their logs.
                </>
              }
              columns={{
                Role: (row) => row.role,
                Process: (row) => (
                  <span title={row.id}>
                    <bdi>{row.host}</bdi> {row.pid} <code>{row.id.slice(0, 8)}</code>
                  </span>
                ),
                Started: (row) => <Ago at={row.startedAt} />,
                Networks: (row) => <Networks row={row} />,
                Jobs: (row) => <Jobs row={row} />,
                State: (row) => (
                  <span class="actions">
                    <Chip tone={row.draining ? 'wait' : 'good'}>{row.draining ? 'Draining' : 'Active'}</Chip>
                    <ActionButton name="workers/drain" input={{ id: row.id, draining: !row.draining }}>
                      {row.draining ? 'Resume' : 'Drain'}
                    </ActionButton>
                  </span>
                ),
              }}
            />
          </>
        )}
      </Read>
    </Page>
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
          Its networks file changed and was rejected: <bdi>{row.networksProblem}</bdi>
        </p>
      )}
    </>
  );
}

function Jobs({ row }: { row: Worker }) {
  return (
    <>
      {row.jobs.length} of {row.slots}
      {row.jobs.slice(0, 10).map(({ job, seconds }) => (
        <div key={job}>
          <code>{job}</code> for {formatDuration(seconds * 1_000)}
        </div>
      ))}
    </>
  );
}
