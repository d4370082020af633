import { differences } from '../lib/difference.js';
import { dateTime } from '../lib/format.js';
import { hrefOf, useRoute } from '../lib/route.js';
import { useRead } from '../lib/use-read.js';
import { Empty, Shown } from '../parts/states.js';
import { Table } from '../parts/table.js';

export interface Change {
  id: number;
  at: string;
  who: string;
  subject: string;
  action: string;
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
}

/** The log of actions: who changed what, and when. */
export function Changes() {
  const { query } = useRoute();
  const subject = query.get('subject') || undefined;
  const before = query.get('before') ?? undefined;
  const reading = useRead<{ rows: Change[]; more: boolean }>('changes', { subject, before });
  const search = (event: SubmitEvent): void => {
    event.preventDefault();
    const text = String(new FormData(event.currentTarget as HTMLFormElement).get('subject')).trim();
    location.hash = hrefOf('changes', { subject: text === '' ? undefined : text });
  };
  return (
    <>
      <h1>Log of actions</h1>
      <form onSubmit={search} class="actions">
        <label>
          Of <input name="subject" key={subject} defaultValue={subject} placeholder="backfill 7, key, plan" />
        </label>
        <button type="submit">Filter</button>
        {subject !== undefined && <a href={hrefOf('changes')}>All</a>}
      </form>
      <Shown reading={reading}>
        {({ rows, more }) => (
          <>
            {rows.length === 0 ? (
              <Empty>
                {subject === undefined
                  ? 'No operator changed anything within a year.'
                  : `Nothing was changed of “${subject}” within a year. A subject is a kind and a name, such as backfill 7, or a kind alone.`}
              </Empty>
            ) : (
              <ChangeTable rows={rows} />
            )}
            <p class="pages">
              {before !== undefined && <a href={hrefOf('changes', { subject })}>Newest</a>}
              {more && <a href={hrefOf('changes', { subject, before: rows.at(-1)?.id })}>Older</a>}
            </p>
          </>
        )}
      </Shown>
    </>
  );
}

export function ChangeTable({ rows }: { rows: readonly Change[] }) {
  return (
    <Table
      label="Changes"
      rows={rows}
      keyOf={(row) => row.id}
      columns={[
        { title: 'At', cell: (row) => dateTime(row.at) },
        { title: 'Who', cell: (row) => <bdi>{row.who}</bdi> },
        {
          title: 'What',
          cell: (row) => (
            <a href={hrefOf('changes', { subject: row.subject })}>
              <bdi>{row.subject}</bdi>
            </a>
          ),
        },
        { title: 'Action', cell: (row) => row.action },
        { title: 'Change', cell: (row) => <bdi>{differences(row.before, row.after)}</bdi> },
      ]}
    />
  );
}
