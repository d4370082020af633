import { dateTime } from '../lib/format.js';
import { hrefOf } from '../lib/route.js';
import { useRead } from '../lib/use-read.js';
import { ActionButton } from '../parts/action-button.js';
import { Shown } from '../parts/states.js';
import { Table } from '../parts/table.js';

interface Tried {
  upstream: string;
  cause: string;
  message: string;
  payloadDigest: string | null;
}

export interface QuarantineRow {
  network: string;
  number: number;
  end: number;
  kinds: string[];
  cause: string;
  message: string;
  upstream: string | null;
  payloadDigest: string | null;
  attempts: number;
  firstSeen: string;
  nextTry: string;
  due: boolean;
  tried: Tried[];
}

interface BlockReport extends QuarantineRow {
  standing: Record<string, string>;
  advice: string;
}

/** One block in quarantine: what each upstream said of it, and what to do. */
export function QuarantinedBlock({
  network,
  block,
  mayChange,
}: {
  network: string;
  block: string;
  mayChange: boolean;
}) {
  const reading = useRead<BlockReport>('quarantine/show', { network, block });
  return (
    <>
      <p>
        <a href={hrefOf('quarantine')}>Quarantine</a>
      </p>
      <h1>
        Block {block} of <bdi>{network}</bdi>
      </h1>
      <Shown reading={reading}>
        {(row) => (
          <>
            <dl class="facts">
              <dt>Blocks</dt>
              <dd>{row.number === row.end ? row.number : `${row.number} to ${row.end}`}</dd>
              <dt>Cause</dt>
              <dd>
                <strong>{row.cause}</strong> <bdi>{row.message}</bdi>
              </dd>
              <dt>What to do</dt>
              <dd>{row.advice}</dd>
              <dt>Tries</dt>
              <dd>
                {row.attempts} since {dateTime(row.firstSeen)}; the next one{' '}
                {row.due ? 'is due now' : `at ${dateTime(row.nextTry)}`}
              </dd>
              <dt>Kinds</dt>
              <dd>
                {Object.entries(row.standing)
                  .map(([kind, state]) => `${kind} ${state}`)
                  .join(', ')}
              </dd>
            </dl>
            {mayChange && (
              <p>
                <ActionButton
                  name="quarantine/retry"
                  input={{ network, start: row.number, end: row.end }}
                  done={reading.again}
                >
                  Try again now
                </ActionButton>
              </p>
            )}
            <h2>What each upstream said</h2>
            <Answers tried={row.tried} />
          </>
        )}
      </Shown>
    </>
  );
}

function Answers({ tried }: { tried: readonly Tried[] }) {
  const digests = tried.flatMap(({ payloadDigest }) => (payloadDigest === null ? [] : [payloadDigest]));
  const kinds = new Set(digests).size;
  return (
    <>
      <p class={kinds > 1 ? 'bad' : 'faint'}>
        {digests.length < 2
          ? 'Fewer than two upstreams sent an answer that could be compared.'
          : kinds === 1
            ? `All ${digests.length} answers are the same, byte for byte: one upstream alone does not lie.`
            : `There are ${kinds} different answers: at least one of the upstreams is wrong.`}
      </p>
      <Table
        label="Answers"
        rows={tried.map((each, index) => ({ ...each, index }))}
        keyOf={(each) => each.index}
        columns={[
          { title: 'Upstream', cell: (each) => <bdi>{each.upstream}</bdi> },
          { title: 'Result', cell: (each) => each.cause },
          { title: 'Said', cell: (each) => <bdi>{each.message}</bdi> },
          {
            title: 'SHA-256 of the answer',
            cell: (each) =>
              each.payloadDigest === null ? (
                'no answer'
              ) : (
                <>
                  answer{' '}
                  {'ABCDEFGHIJKLMNOPQRSTUVWXYZ'[[...new Set(digests)].indexOf(each.payloadDigest)] ?? '?'}:{' '}
                  <code>{each.payloadDigest}</code>
                </>
              ),
          },
        ]}
      />
    </>
  );
}
