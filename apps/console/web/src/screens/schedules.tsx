import type { Answer } from '../lib/answers.js';
import { formatDate, formatDuration } from '../lib/format.js';
import { useIsAdmin } from '../lib/hooks/use-session.js';
import { toHref, useRoute } from '../lib/route.js';
import { ActionButton, MayChange, NewForm } from '../parts/changes.js';
import { choice, text } from '../parts/form-fields.js';
import { ChangeLogLink } from '../parts/navigation.js';
import { Page } from '../parts/page.js';
import { ReadTable } from '../parts/table.js';

type Run = Answer<'schedules/history'>[number];
type Schedule = Answer<'schedules'>[number];

/** Scheduled commands, and the runs of one. */
export function Schedules() {
  const [, name] = useRoute().parts;
  return name === undefined ? <ScheduleList /> : <History key={name} name={name} />;
}

const ScheduleList = () => (
  <Page title="Schedules">
    <ReadTable
      name="schedules"
      above={
        <MayChange>
          <NewSchedule />
        </MayChange>
      }
      label="Schedules"
      keyOf={(row) => row.name}
      empty={
        <>
          No schedules yet. For a nightly audit, run <code>audit --sample 0.01</code> at{' '}
          <code>0 3 * * *</code>.
        </>
      }
      columns={{
        Name: (row) => <a href={toHref(`schedules/${row.name}`)}>{row.name}</a>,
        Interval: ({ cron, everyMs, zone }) =>
          cron === null ? `every ${formatDuration(everyMs ?? 0)}` : `${cron} ${zone}`,
        'Next run': (row) => (row.paused ? 'paused' : row.nextAt === null ? '-' : formatDate(row.nextAt)),
        'Last run': ({ last }) => (last === null ? 'none' : <LastRun run={last} />),
        'Owner or setting': (row) => <bdi>{row.setting ?? row.owner}</bdi>,
        Command: (row) => <code>packhouse {row.command.join(' ')}</code>,
        Action: (row) => <Actions row={row} />,
      }}
    />
  </Page>
);

function Actions({ row: { deletes, name, setting, paused } }: { row: Schedule }) {
  const isAdmin = useIsAdmin();
  const refused = deletes && !isAdmin ? 'It deletes objects: only admins can run it.' : undefined;
  return (
    <span class="actions">
      <ActionButton name="schedules/run" input={{ name }} refused={refused}>
        Run now
      </ActionButton>
      {setting === null && (
        <>
          <ActionButton
            name="schedules/state"
            input={{ name, state: paused ? 'active' : 'paused' }}
            refused={paused ? refused : undefined}
          >
            {paused ? 'Resume' : 'Pause'}
          </ActionButton>
          <ActionButton
            name="schedules/remove"
            input={{ name }}
            confirm={`Remove the schedule ${name}? Its history stays.`}
            refused={refused}
          >
            Remove
          </ActionButton>
        </>
      )}
      {refused !== undefined && <small>{refused}</small>}
    </span>
  );
}

const LastRun = ({ run }: { run: Run }) => (
  <>
    <Outcome run={run} /> {formatDate(run.due)}
  </>
);

function Outcome({ run: { outcome } }: { run: Run }) {
  const good = outcome === 'done';
  return <span class={good ? 'good' : outcome === null ? undefined : 'bad'}>{outcome ?? 'running'}</span>;
}

const MISSED = [
  ['once', 'Run once, late'],
  ['skip', 'Skip'],
] as const;

const FIELDS = {
  name: text('Name', {
    required: true,
    maxLength: 64,
    pattern: '[a-z0-9][a-z0-9\\-]*',
    placeholder: 'nightly-audit',
  }),
  command: text('Command (without packhouse)', {
    required: true,
    placeholder: 'audit --sample 0.01 --repair',
  }),
  cron: text('Cron expression (minute, hour, day, month, weekday)', {
    required: true,
    placeholder: '0 3 * * *',
  }),
  zone: text('Time zone', {
    required: true,
    initial: Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC',
  }),
  missed: choice('Missed runs', MISSED),
  owner: text('Owner', { maxLength: 64, placeholder: 'default' }),
};

const NewSchedule = () => (
  <NewForm
    title="New schedule"
    name="schedules/add"
    submit="Create"
    fields={FIELDS}
    getInput={(_, read) => ({ ...read, command: toWords(String(read.command)) })}
  />
);

/** The words of a command; quotes keep spaces. */
function toWords(text: string): string[] {
  return [...text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c ?? '');
}

function History({ name }: { name: string }) {
  return (
    <Page
      title={`Schedule ${name}`}
      above={[['schedules', 'Schedules']]}
      actions={<ChangeLogLink subject={`schedule ${name}`} />}
    >
      <ReadTable
        name="schedules/history"
        input={{ name, limit: 100 }}
        label="Runs"
        keyOf={(run) => run.due}
        empty="No runs yet."
        numbers={['Exit code']}
        columns={{
          Due: (run) => formatDate(run.due),
          Started: (run) => (run.startedAt === null ? '-' : formatDate(run.startedAt)),
          Duration: ({ startedAt, endedAt }) =>
            startedAt === null || endedAt === null
              ? '-'
              : formatDuration(new Date(endedAt).getTime() - new Date(startedAt).getTime()),
          Outcome: (run) => <Outcome run={run} />,
          'Exit code': (run) => run.exitCode ?? '-',
          Message: (run) => <bdi>{run.message ?? ''}</bdi>,
        }}
      />
    </Page>
  );
}
