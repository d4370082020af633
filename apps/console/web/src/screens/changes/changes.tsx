import type { Answer } from '../../lib/answers.js';
import { formatDifferences } from '../../lib/difference.js';
import { formatDate } from '../../lib/format.js';
import { toHref, useRoute } from '../../lib/route.js';
import { SearchForm } from '../../parts/navigation.js';
import { Page } from '../../parts/page.js';
import { type Columns, ReadTable, Table } from '../../parts/table.js';

type Change = Answer<'changes'>['rows'][number];

/** The changes of operators. */
export function Changes() {
  const { subject, before } = useRoute().query;
  return (
    <Page title="Audit log" lead="Every change by an operator in the last year.">
      <SearchForm
        path="changes"
        name="subject"
        value={subject}
        label="Subject"
        submit="Filter"
        placeholder="backfill 7, key, plan"
      />
      <ReadTable
        name="changes"
        input={{ subject, before }}
        label="Changes"
        keyOf={(row) => row.id}
        columns={COLUMNS}
        empty={
          subject === undefined
            ? 'No changes in the last year.'
            : `No changes to “${subject}” in the last year. A subject is a kind and a name, such as backfill 7, or a kind alone.`
        }
        pages={{
          path: 'changes',
          query: { subject },
          next: (last) => ({ before: last.id }),
          titles: ['Newest', 'Older'],
        }}
      />
    </Page>
  );
}

export const ChangeTable = ({ rows }: { rows: readonly Change[] }) => (
  <Table label="Changes" rows={rows} keyOf={(row) => row.id} columns={COLUMNS} />
);

const COLUMNS: Columns<Change> = {
  Time: (row) => formatDate(row.at),
  Actor: (row) => <bdi>{row.actor}</bdi>,
  Subject: (row) => (
    <a href={toHref('changes', { subject: row.subject })}>
      <bdi>{row.subject}</bdi>
    </a>
  ),
  Action: (row) => row.action,
  Change: (row) => <bdi>{formatDifferences(row.before, row.after)}</bdi>,
};
