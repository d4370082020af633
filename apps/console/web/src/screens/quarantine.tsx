import { ago, count, dateTime } from '../lib/format.js';
import { hrefOf, useRoute } from '../lib/route.js';
import { useRead } from '../lib/use-read.js';
import { ActionButton } from '../parts/action-button.js';
import { ChangeForm, textOf } from '../parts/change-form.js';
import { Empty, Shown } from '../parts/states.js';
import { Table } from '../parts/table.js';
import { QuarantinedBlock, type QuarantineRow } from './quarantined-block.js';

interface Cause {
  network: string;
  cause: string;
  entries: number;
  blocks: number;
}

const PAGE = 50;

/** Blocks that could not be fetched or proved: by cause, as a list, and one of them. */
export function Quarantine({ mayChange }: { mayChange: boolean }) {
  const { path } = useRoute();
  const [, network, block] = path.split('/');
  if (network !== undefined && block !== undefined)
    return <QuarantinedBlock network={network} block={block} mayChange={mayChange} />;
  return <Causes mayChange={mayChange} />;
}

function Causes({ mayChange }: { mayChange: boolean }) {
  const { query } = useRoute();
  const [network, cause] = [query.get('network') ?? undefined, query.get('cause') ?? undefined];
  const causes = useRead<Cause[]>('quarantine/causes');
  return (
    <>
      <h1>Quarantine</h1>
      <p class="faint">
        Blocks that no upstream could give in a form that proves. Each is tried again by itself.
      </p>
      <Shown reading={causes}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty>
              Nothing is in quarantine. What is missing for other reasons is on the{' '}
              <a href={hrefOf('coverage')}>coverage map</a>.
            </Empty>
          ) : (
            <>
              <Table
                label="Causes"
                rows={rows}
                keyOf={(row) => `${row.network} ${row.cause}`}
                columns={[
                  { title: 'Network', cell: (row) => <bdi>{row.network}</bdi> },
                  {
                    title: 'Cause',
                    cell: (row) => (
                      <a
                        href={hrefOf('quarantine', { network: row.network, cause: row.cause })}
                        aria-current={row.network === network && row.cause === cause ? 'true' : undefined}
                      >
                        {row.cause}
                      </a>
                    ),
                  },
                  { title: 'Blocks', number: true, cell: (row) => count(row.blocks) },
                  { title: 'Rows', number: true, cell: (row) => count(row.entries) },
                  {
                    title: 'Action',
                    cell: (row) =>
                      mayChange && (
                        <ActionButton
                          name="quarantine/retry"
                          input={{ network: row.network, cause: row.cause }}
                          confirm={`Try ${count(row.blocks)} blocks of ${row.network} with ${row.cause} again now?`}
                          done={causes.again}
                        >
                          Try all again
                        </ActionButton>
                      ),
                  },
                ]}
              />
              <Rows key={`${network} ${cause}`} network={network} cause={cause} />
              {mayChange && (
                <RetryRange networks={[...new Set(rows.map((row) => row.network))]} done={causes.again} />
              )}
            </>
          )
        }
      </Shown>
    </>
  );
}

function Rows({ network, cause }: { network: string | undefined; cause: string | undefined }) {
  const { query } = useRoute();
  const [after, afterNetwork] = [query.get('after') ?? undefined, query.get('afterNetwork') ?? undefined];
  const input = { network, cause, after, afterNetwork, limit: PAGE };
  const reading = useRead<{ rows: QuarantineRow[]; more: boolean }>('quarantine', input);
  const title = `Blocks${network === undefined ? '' : ` of ${network}`}${cause === undefined ? '' : ` with ${cause}`}`;
  return (
    <>
      <h2>{title}</h2>
      {network !== undefined && <a href={hrefOf('quarantine')}>All causes</a>}
      <Shown reading={reading}>
        {({ rows, more }) => {
          const last = rows.at(-1);
          const next = { network, cause, after: last?.number, afterNetwork: last?.network };
          return (
            <>
              {rows.length === 0 && <Empty>None any more.</Empty>}
              {rows.length > 0 && <RowTable label={title} rows={rows} />}
              <p class="pages">
                {after !== undefined && <a href={hrefOf('quarantine', { network, cause })}>First</a>}
                {more && <a href={hrefOf('quarantine', next)}>Next</a>}
              </p>
            </>
          );
        }}
      </Shown>
    </>
  );
}

function RowTable({ label, rows }: { label: string; rows: readonly QuarantineRow[] }) {
  return (
    <Table
      label={label}
      rows={rows}
      keyOf={(row) => `${row.network} ${row.number}`}
      columns={[
        { title: 'Network', cell: (row) => <bdi>{row.network}</bdi> },
        {
          title: 'Blocks',
          cell: (row) => (
            <a href={hrefOf(`quarantine/${encodeURIComponent(row.network)}/${row.number}`)}>
              {row.end === row.number ? row.number : `${row.number}-${row.end}`}
            </a>
          ),
        },
        { title: 'Kinds', cell: (row) => row.kinds.join(', ') },
        { title: 'Cause', cell: (row) => row.cause },
        { title: 'Upstream', cell: (row) => <bdi>{row.upstream ?? '-'}</bdi> },
        { title: 'Tries', number: true, cell: (row) => row.attempts },
        { title: 'Since', cell: (row) => <span title={dateTime(row.firstSeen)}>{ago(row.firstSeen)}</span> },
        { title: 'Next try', cell: (row) => (row.due ? 'now' : dateTime(row.nextTry)) },
      ]}
    />
  );
}

function RetryRange({ networks, done }: { networks: readonly string[]; done: () => void }) {
  return (
    <details>
      <summary>Try a range again</summary>
      <ChangeForm
        name="quarantine/retry"
        submit="Try again now"
        inputOf={(form) => ({
          network: textOf(form, 'network'),
          start: textOf(form, 'start'),
          end: textOf(form, 'end'),
        })}
        done={done}
      >
        <label>
          Network{' '}
          <select name="network">
            {networks.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
        <label>
          First block <input name="start" required inputMode="numeric" pattern="[0-9_,]+" />
        </label>
        <label>
          Last block <input name="end" required inputMode="numeric" pattern="[0-9_,]+" />
        </label>
      </ChangeForm>
    </details>
  );
}
