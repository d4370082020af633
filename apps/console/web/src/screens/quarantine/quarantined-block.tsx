import type { Answer } from '../../lib/answers.js';
import { formatDate } from '../../lib/format.js';
import { ActionButton } from '../../parts/changes.js';
import { Facts } from '../../parts/facts.js';
import { Page } from '../../parts/page.js';
import { Read } from '../../parts/states.js';
import { Table } from '../../parts/table.js';

/** One quarantined block: the responses of its upstreams, and what to do. */
export function QuarantinedBlock({ network, block }: { network: string; block: string }) {
  return (
    <Page title={`Block ${block} of ${network}`} above={[['quarantine', 'Quarantine']]}>
      <Read name="quarantine/show" input={{ network, block }}>
        {(row) => (
          <>
            <Facts
              rows={{
                Blocks: row.from === row.to ? row.from : `${row.from} to ${row.to}`,
                Cause: (
                  <>
                    <strong>{row.cause}</strong> <bdi>{row.message}</bdi>
                  </>
                ),
                Advice: row.advice,
                Attempts: `${row.attempts} since ${formatDate(row.firstSeen)}; next retry ${row.due ? 'now' : formatDate(row.nextTry)}`,
                Kinds: Object.entries(row.standing)
                  .map(([kind, state]) => `${kind} ${state}`)
                  .join(', '),
              }}
            />
            <p>
              <ActionButton name="quarantine/retry" input={{ network, from: row.from, to: row.to }}>
                Retry now
              </ActionButton>
            </p>
            <h2>Responses by upstream</h2>
            <Responses tried={row.tried} />
          </>
        )}
      </Read>
    </Page>
  );
}

function Responses({ tried }: { tried: Answer<'quarantine/show'>['tried'] }) {
  const digests = tried.flatMap(({ payloadDigest }) => (payloadDigest === null ? [] : [payloadDigest]));
  const kinds = new Set(digests).size;
  return (
    <>
      <p class={kinds > 1 ? 'bad' : 'faint'}>
        {digests.length < 2
          ? 'Fewer than two upstreams sent a response to compare.'
          : kinds === 1
            ? `All ${digests.length} responses are identical, byte for byte.`
            : `${kinds} different responses: at least one upstream is wrong.`}
      </p>
      <Table
        label="Responses"
        rows={tried.map((each, index) => ({ ...each, index }))}
        keyOf={(each) => each.index}
        columns={{
          Upstream: (each) => <bdi>{each.upstream}</bdi>,
          Result: (each) => each.cause,
          Response: (each) => <bdi>{each.message}</bdi>,
          'SHA-256 of the response': (each) =>
            each.payloadDigest === null ? (
              'no response'
            ) : (
              <>
                response{' '}
                {'ABCDEFGHIJKLMNOPQRSTUVWXYZ'[[...new Set(digests)].indexOf(each.payloadDigest)] ?? '?'}:{' '}
                <code>{each.payloadDigest}</code>
              </>
            ),
        }}
      />
    </>
  );
}
