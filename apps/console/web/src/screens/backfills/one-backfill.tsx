import { formatCount, formatDate, formatRate, pluralize } from '../../lib/format.js';
import { REASONS } from '../../lib/reasons.js';
import { toHref, useRoute } from '../../lib/route.js';
import { EditForm, MayChange } from '../../parts/changes.js';
import { Facts } from '../../parts/facts.js';
import { FindingItem } from '../../parts/finding.js';
import { ButtonLink, ChangeLogLink } from '../../parts/navigation.js';
import { Page } from '../../parts/page.js';
import { Read } from '../../parts/states.js';
import { Table } from '../../parts/table.js';
import { ChangeTable } from '../changes/changes.js';
import { type BackfillReport, formatRange, Progress, StateActions } from './backfill-parts.js';
import { TERMS } from './terms-fields.js';
import { getCondition } from './waits.js';

/** One backfill: progress, terms, what it waits for, and its changes. */
export function OneBackfill({ id }: { id: string }) {
  const { edit } = useRoute().query;
  return (
    <Page
      title={`Backfill ${id}`}
      above={[['backfills', 'Backfills']]}
      actions={<ChangeLogLink subject={`backfill ${id}`} />}
    >
      <Read name="backfills/show" input={{ id }}>
        {(report) => (
          <>
            <p class="faint">
              <bdi>{report.backfill.network}</bdi> {formatRange(report.backfill)},{' '}
              {report.backfill.kinds.join(', ')}
            </p>
            <Standing report={report} />
            <div class="toolbar">
              <Progress report={report} state={report.backfill.state} />
              <StateActions range={report.backfill} withReason />
            </div>
            <Terms report={report} />
            <MayChange>
              <EditForm
                label="Edit terms"
                isOpen={edit === 'terms'}
                name="backfills/set"
                submit="Save"
                subject={`backfill ${id}`}
                fields={TERMS}
                input={{ id }}
                row={report.backfill}
              />
            </MayChange>
            <Kinds report={report} />
            <h2>Changes</h2>
            <ChangeTable rows={report.history} />
          </>
        )}
      </Read>
    </Page>
  );
}

/** What it is at, since when, until when, and the way to what mends it. */
function Standing({ report }: { report: BackfillReport }) {
  const { cure, since, tone, until, why, words } = getCondition(report.backfill, report);
  const { state } = report.backfill;
  const isFinding = tone === 'bad' || tone === 'wait' || tone === 'good';
  return (
    <ul class="findings">
      <FindingItem
        tone={isFinding ? tone : 'good'}
        icon={state === 'paused' ? 'paused' : tone}
        since={since}
        until={until}
        action={cure && <ButtonLink {...cure} />}
      >
        <strong>{words}</strong>
        {why !== null && (
          <>
            {': '}
            <bdi>{why}</bdi>
          </>
        )}
      </FindingItem>
    </ul>
  );
}

function Terms({ report }: { report: BackfillReport }) {
  const { backfill, deadline, requests, rate, forecast, blocksLeft } = report;
  const eta = forecast === null ? 'unknown' : formatDate(forecast);
  return (
    <Facts
      rows={{
        Owner: <bdi>{backfill.owner}</bdi>,
        'Priority, weight': `${backfill.priority}, ${backfill.weight}`,
        'Time windows': backfill.windows.join('; ') || 'always',
        Deadline: (
          <>
            {backfill.deadline === null ? 'none' : formatDate(backfill.deadline)}
            {deadline !== null && <Outlook {...deadline} />}
          </>
        ),
        'Requests to nodes': `${formatCount(requests)}${backfill.maxRequests === null ? '' : ` of ${formatCount(backfill.maxRequests)}`}`,
        Rate:
          rate === null
            ? 'unknown: too few blocks of its kinds were published in the last day'
            : `${formatRate(rate.blocksPerSecond)} blocks/s (${rate.of === 'backfill' ? 'this backfill' : 'all blocks of its kinds'})`,
        ETA:
          blocksLeft === 0
            ? 'all finalized blocks are fetched'
            : `${eta}, ${pluralize(blocksLeft, 'finalized block')} left`,
      }}
    />
  );
}

const OUTLOOKS: Readonly<Record<string, string>> = {
  kept: 'on track',
  late: 'late at the current rate',
  closed: 'late: no time window opens before the deadline',
  missed: 'missed',
  unknown: 'unknown: no current rate',
};

function Outlook({ standing, takes }: { standing: string; takes: number | null }) {
  const bad = standing !== 'kept' && standing !== 'unknown';
  return (
    <span class={bad ? 'bad' : 'faint'}>
      {': '}
      {OUTLOOKS[standing] ?? standing}
      {takes !== null && `; needs ${formatRate(takes)} blocks/s`}
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
        numbers={['Published']}
        columns={{
          Kind: (row) => row.kind,
          Published: (row) => formatCount(row.published),
          'Missing, by reason': (row) =>
            Object.entries(row.missing)
              .map(([reason, blocks]) => `${formatCount(blocks)} ${REASONS[reason]?.label ?? reason}`)
              .join(', ') || 'none',
        }}
      />
      <p>
        <a
          href={toHref('coverage', {
            network: report.backfill.network,
            from: report.backfill.from,
            to: report.backfill.to ?? undefined,
          })}
        >
          View coverage
        </a>
      </p>
    </>
  );
}
