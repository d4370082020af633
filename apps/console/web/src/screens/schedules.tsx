import { dateTime, duration } from '../lib/format.js';
import { hrefOf, useRoute } from '../lib/route.js';
import { useRead } from '../lib/use-read.js';
import { ActionButton } from '../parts/action-button.js';
import { ChangeForm, textOf } from '../parts/change-form.js';
import { Empty, Shown } from '../parts/states.js';
import { Table } from '../parts/table.js';

interface Run {
  due: string;
  startedAt: string | null;
  endedAt: string | null;
  outcome: 'done' | 'failed' | 'skipped' | 'missed' | null;
  exitCode: number | null;
  said: string | null;
}

interface Schedule {
  name: string;
  owner: string;
  cron: string | null;
  zone: string | null;
  everyMs: number | null;
  missed: string;
  command: string[];
  setting: string | null;
  paused: boolean;
  nextAt: string | null;
  last: Run | null;
}

/** Commands on a calendar, and the history of one. */
export function Schedules({ mayChange }: { mayChange: boolean }) {
  const { path } = useRoute();
  const [, name] = path.split('/');
  if (name !== undefined && name !== '') return <History key={name} name={name} />;
  return <List mayChange={mayChange} />;
}

function List({ mayChange }: { mayChange: boolean }) {
  const reading = useRead<Schedule[]>('schedules');
  return (
    <>
      <h1>Schedules</h1>
      {mayChange && <NewSchedule done={reading.again} />}
      <Shown reading={reading}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty>
              Nothing is scheduled. A nightly audit, for example, is <code>audit --sample 0.01</code> at{' '}
              <code>0 3 * * *</code>.
            </Empty>
          ) : (
            <Table
              label="Schedules"
              rows={rows}
              keyOf={(row) => row.name}
              columns={[
                {
                  title: 'Name',
                  cell: (row) => <a href={hrefOf(`schedules/${row.name}`)}>{row.name}</a>,
                },
                {
                  title: 'Times',
                  cell: (row) =>
                    row.cron === null ? `every ${duration(row.everyMs ?? 0)}` : `${row.cron} ${row.zone}`,
                },
                {
                  title: 'Next',
                  cell: (row) => (row.paused ? 'paused' : row.nextAt === null ? '-' : dateTime(row.nextAt)),
                },
                {
                  title: 'Last',
                  cell: (row) =>
                    row.last === null ? (
                      'none yet'
                    ) : (
                      <>
                        <Outcome run={row.last} /> {dateTime(row.last.due)}
                      </>
                    ),
                },
                { title: 'Owner or setting', cell: (row) => <bdi>{row.setting ?? row.owner}</bdi> },
                { title: 'Command', cell: (row) => <code>packhouse {row.command.join(' ')}</code> },
                { title: 'Action', cell: (row) => mayChange && <Steer row={row} done={reading.again} /> },
              ]}
            />
          )
        }
      </Shown>
    </>
  );
}

function Steer({ row, done }: { row: Schedule; done: () => void }) {
  const button = (action: string, label: string, confirm?: string) => (
    <ActionButton
      name="schedules/steer"
      input={{ name: row.name, action }}
      {...(confirm === undefined ? {} : { confirm })}
      done={done}
    >
      {label}
    </ActionButton>
  );
  return (
    <span class="actions">
      {button('run', 'Run now')}
      {row.setting === null && (row.paused ? button('resume', 'Resume') : button('pause', 'Pause'))}
      {row.setting === null &&
        button('remove', 'Remove', `Remove the schedule ${row.name}? Its history stays.`)}
    </span>
  );
}

function Outcome({ run: { outcome } }: { run: Run }) {
  const good = outcome === 'done';
  return <span class={good ? 'good' : outcome === null ? undefined : 'bad'}>{outcome ?? 'runs'}</span>;
}

function NewSchedule({ done }: { done: () => void }) {
  return (
    <details>
      <summary>Add a schedule</summary>
      <ChangeForm
        name="schedules/add"
        submit="Add"
        inputOf={(form) => ({
          ...{ name: textOf(form, 'name'), cron: textOf(form, 'cron'), zone: textOf(form, 'zone') },
          ...{ missed: textOf(form, 'missed'), owner: textOf(form, 'owner') },
          command: wordsOf(textOf(form, 'command') ?? ''),
        })}
        done={done}
      >
        <label>
          Name{' '}
          <input
            name="name"
            required
            maxLength={64}
            pattern="[a-z0-9][a-z0-9\-]*"
            placeholder="nightly-audit"
          />
        </label>
        <label>
          Command, without packhouse{' '}
          <input name="command" required placeholder="audit --sample 0.01 --repair" />
        </label>
        <label>
          Minute, hour, day of the month, month, day of the week{' '}
          <input name="cron" required placeholder="0 3 * * *" />
        </label>
        <label>
          Time zone{' '}
          <input
            name="zone"
            required
            defaultValue={Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC'}
          />
        </label>
        <label>
          Times at which no packer lived{' '}
          <select name="missed">
            <option value="once">run once, late</option>
            <option value="skip">do not run</option>
          </select>
        </label>
        <label>
          Owner <input name="owner" maxLength={64} placeholder="default" />
        </label>
      </ChangeForm>
    </details>
  );
}

/** The words of a command; quotes keep spaces. */
function wordsOf(text: string): string[] {
  return [...text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c ?? '');
}

function History({ name }: { name: string }) {
  const reading = useRead<Run[]>('schedules/history', { name, limit: 100 });
  return (
    <>
      <p>
        <a href={hrefOf('schedules')}>Schedules</a>
      </p>
      <h1>Schedule {name}</h1>
      <p>
        <a href={hrefOf('changes', { subject: `schedule ${name}` })}>Who changed it</a>
      </p>
      <Shown reading={reading}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty>It had no run yet.</Empty>
          ) : (
            <Table
              label="Runs"
              rows={rows}
              keyOf={(run) => run.due}
              columns={[
                { title: 'Due', cell: (run) => dateTime(run.due) },
                { title: 'Began', cell: (run) => (run.startedAt === null ? '-' : dateTime(run.startedAt)) },
                {
                  title: 'Took',
                  cell: ({ startedAt, endedAt }) =>
                    startedAt === null || endedAt === null
                      ? '-'
                      : duration(new Date(endedAt).getTime() - new Date(startedAt).getTime()),
                },
                { title: 'Outcome', cell: (run) => <Outcome run={run} /> },
                { title: 'Exit', number: true, cell: (run) => run.exitCode ?? '-' },
                { title: 'Said', cell: (run) => <bdi>{run.said ?? ''}</bdi> },
              ]}
            />
          )
        }
      </Shown>
    </>
  );
}
