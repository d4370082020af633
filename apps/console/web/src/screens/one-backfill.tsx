import { useState } from 'preact/hooks';
import { count, dateTime } from '../lib/format.js';
import { hrefOf } from '../lib/route.js';
import { useRead } from '../lib/use-read.js';
import { ChangeForm } from '../parts/change-form.js';
import { Shown } from '../parts/states.js';
import { Table } from '../parts/table.js';
import { type BackfillReport, expectedOf, Progress, type Range, rangeText, Steer } from './backfill-parts.js';
import { type Change, ChangeTable } from './changes.js';
import { TermsFields, termsIn } from './terms-fields.js';

/** One backfill: how far it is, its terms, what it waits for, and who changed it. */
export function OneBackfill({ id, mayChange }: { id: string; mayChange: boolean }) {
  const reading = useRead<BackfillReport & { history: Change[] }>('backfills/show', { id });
  const [editing, edit] = useState<Range | null>(null);
  return (
    <>
      <p>
        <a href={hrefOf('backfills')}>Backfills</a>
      </p>
      <h1>Backfill {id}</h1>
      <Shown reading={reading}>
        {(report) => (
          <>
            <p>
              <bdi>{report.range.network}</bdi> {rangeText(report.range)}, {report.range.kinds.join(', ')}
            </p>
            <Progress report={report} state={report.range.state} />
            {mayChange && <Steer range={report.range} done={reading.again} />}
            {report.waits.length > 0 && (
              <>
                <h2>Waits, as</h2>
                <ul>
                  {report.waits.map(({ message }) => (
                    <li key={message}>{message}</li>
                  ))}
                </ul>
              </>
            )}
            <Facts report={report} />
            {mayChange && editing === null && (
              <button type="button" onClick={() => edit(report.range)}>
                Change terms
              </button>
            )}
          </>
        )}
      </Shown>
      {editing !== null && (
        <>
          <h2>Change terms</h2>
          <ChangeForm
            name="backfills/set"
            submit="Change"
            subject={`backfill ${id}`}
            inputOf={(form) => ({
              ...{ id: editing.id, expected: expectedOf(editing) },
              ...termsIn(form, editing),
            })}
            done={() => {
              edit(null);
              reading.again();
            }}
          >
            <TermsFields terms={editing} />
          </ChangeForm>
          <button type="button" onClick={() => edit(null)}>
            Leave as it is
          </button>
        </>
      )}
      {reading.value !== undefined && <Kinds report={reading.value} />}
      {reading.value !== undefined && (
        <>
          <h2>History</h2>
          <ChangeTable rows={reading.value.history} />
        </>
      )}
    </>
  );
}

function Facts({ report }: { report: BackfillReport }) {
  const { range, deadline, requests, rate, forecast, blocksLeft } = report;
  const limit = range.maxRequests === null ? '' : ` of ${count(range.maxRequests)}`;
  return (
    <dl class="facts">
      <dt>Owner</dt>
      <dd>
        <bdi>{range.owner}</bdi>
      </dd>
      <dt>Priority, weight</dt>
      <dd>
        {range.priority}, {range.weight}
      </dd>
      <dt>Hours</dt>
      <dd>{range.windows.length === 0 ? 'always' : range.windows.join('; ')}</dd>
      <dt>Deadline</dt>
      <dd>
        {range.deadline === null ? 'none' : dateTime(range.deadline)}
        {deadline !== null && <Outlook {...deadline} />}
      </dd>
      <dt>Requests to nodes</dt>
      <dd>
        {count(requests)}
        {limit}
      </dd>
      <dt>Rate</dt>
      <dd>
        {rate === null
          ? 'unknown: too little of its kinds was published in the last day'
          : `${rate.blocksPerSecond.toFixed(1)} blocks/s, of ${rate.of === 'backfill' ? 'this backfill' : 'all blocks of its kinds'}`}
      </dd>
      <dt>Forecast</dt>
      <dd>
        {blocksLeft === 0
          ? 'all that is final is fetched'
          : `${count(blocksLeft)} final blocks to fetch, ${forecast === null ? 'end unknown' : `until ${dateTime(forecast)}`}`}
      </dd>
    </dl>
  );
}

const STANDINGS: Readonly<Record<string, string>> = {
  kept: 'will be kept',
  late: 'will not be kept at today’s rate',
  closed: 'will not be kept: its hours do not open before',
  missed: 'is missed',
  unknown: 'cannot be judged: today’s rate is unknown',
};

function Outlook({ standing, takes }: { standing: string; takes: number | null }) {
  const bad = standing !== 'kept' && standing !== 'unknown';
  return (
    <span class={bad ? 'bad' : 'faint'}>
      {' '}
      {STANDINGS[standing] ?? standing}
      {takes !== null && `; it takes ${takes < 0.1 ? takes.toExponential(1) : takes.toFixed(1)} blocks/s`}
    </span>
  );
}

function Kinds({ report }: { report: BackfillReport }) {
  return (
    <>
      <h2>By kind</h2>
      <Table
        label="Blocks by kind"
        rows={report.kinds}
        keyOf={(row) => row.kind}
        columns={[
          { title: 'Kind', cell: (row) => row.kind },
          { title: 'Published', number: true, cell: (row) => count(row.published) },
          {
            title: 'Missing, and why',
            cell: (row) =>
              Object.entries(row.missing)
                .map(([reason, blocks]) => `${count(blocks)} ${reason}`)
                .join(', ') || 'nothing',
          },
        ]}
      />
      <p>
        <a
          href={hrefOf('coverage', {
            network: report.range.network,
            from: report.range.start,
            to: report.range.end ?? undefined,
          })}
        >
          On the map
        </a>
      </p>
    </>
  );
}
