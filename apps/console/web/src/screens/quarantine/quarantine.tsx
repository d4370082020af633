import { formatCount, formatDate, pluralize } from '../../lib/format.js';
import { toHref, useRoute } from '../../lib/route.js';
import { ActionButton, MayChange, NewForm } from '../../parts/changes.js';
import { Ago } from '../../parts/facts.js';
import { choice, number } from '../../parts/form-fields.js';
import { Page } from '../../parts/page.js';
import { Empty, Read } from '../../parts/states.js';
import { ReadTable, Table } from '../../parts/table.js';
import { QuarantinedBlock } from './quarantined-block.js';

const PAGE = 50;

/** Blocks that could not be fetched or proved: by cause, as a list, and one of them. */
export function Quarantine() {
  const [, network, block] = useRoute().parts;
  if (network !== undefined && block !== undefined)
    return <QuarantinedBlock network={network} block={block} />;
  return <Causes />;
}

function Causes() {
  const { network, cause } = useRoute().query;
  return (
    <Page
      title="Quarantine"
      lead="Blocks for which no upstream sent data that could be proved. Each is retried automatically."
    >
      <Read name="quarantine/causes">
        {(rows) =>
          rows.length === 0 ? (
            <Empty>
              No quarantined blocks. For other missing blocks, see the{' '}
              <a href={toHref('coverage')}>coverage map</a>.
            </Empty>
          ) : (
            <>
              <Table
                label="Causes"
                rows={rows}
                keyOf={(row) => `${row.network} ${row.cause}`}
                numbers={['Blocks', 'Entries']}
                columns={{
                  Network: (row) => <bdi>{row.network}</bdi>,
                  Cause: (row) => (
                    <a
                      href={toHref('quarantine', { network: row.network, cause: row.cause })}
                      aria-current={row.network === network && row.cause === cause ? 'true' : undefined}
                    >
                      {row.cause}
                    </a>
                  ),
                  Blocks: (row) => formatCount(row.blocks),
                  Entries: (row) => formatCount(row.entries),
                  Action: (row) => (
                    <ActionButton
                      name="quarantine/retry"
                      input={{ network: row.network, cause: row.cause }}
                      confirm={`Retry ${pluralize(row.blocks, 'block')} of ${row.network} with ${row.cause} now?`}
                    >
                      Retry all
                    </ActionButton>
                  ),
                }}
              />
              <Rows key={`${network} ${cause}`} network={network} cause={cause} />
              <MayChange>
                <RetryRange networks={[...new Set(rows.map((row) => row.network))]} />
              </MayChange>
            </>
          )
        }
      </Read>
    </Page>
  );
}

function Rows({ network, cause }: { network: string | undefined; cause: string | undefined }) {
  const { after, afterNetwork } = useRoute().query;
  const title = `Blocks${network === undefined ? '' : ` of ${network}`}${cause === undefined ? '' : ` with ${cause}`}`;
  return (
    <>
      <h2>{title}</h2>
      {network !== undefined && <a href={toHref('quarantine')}>All causes</a>}
      <ReadTable
        name="quarantine"
        input={{ network, cause, after, afterNetwork, limit: PAGE }}
        label={title}
        keyOf={(row) => `${row.network} ${row.from}`}
        empty="None left."
        numbers={['Attempts']}
        columns={{
          Network: (row) => <bdi>{row.network}</bdi>,
          Blocks: (row) => (
            <a href={toHref(`quarantine/${encodeURIComponent(row.network)}/${row.from}`)}>
              {row.to === row.from ? row.from : `${row.from}-${row.to}`}
            </a>
          ),
          Kinds: (row) => row.kinds.join(', '),
          Cause: (row) => row.cause,
          Upstream: (row) => <bdi>{row.upstream ?? '-'}</bdi>,
          Attempts: (row) => row.attempts,
          'First seen': (row) => <Ago at={row.firstSeen} />,
          'Next retry': (row) => (row.due ? 'now' : formatDate(row.nextTry)),
        }}
        pages={{
          path: 'quarantine',
          query: { network, cause },
          next: (last) => ({ after: last.from, afterNetwork: last.network }),
        }}
      />
    </>
  );
}

const RetryRange = ({ networks }: { networks: readonly string[] }) => (
  <NewForm
    title="Retry a range"
    name="quarantine/retry"
    submit="Retry now"
    fields={{
      network: choice('Network', networks),
      from: number('First block', { required: true }),
      to: number('Last block', { required: true }),
    }}
  />
);
