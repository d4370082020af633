import { useState } from 'preact/hooks';
import { ApiError, read } from '../lib/api.js';
import { bytes, count, duration } from '../lib/format.js';
import { Problem } from '../parts/states.js';
import { Table } from '../parts/table.js';

interface Estimate {
  value: number;
  low: number;
  high: number;
}

interface Quote {
  range: { start: number; end: number };
  head: number;
  standing: { kind: string; published: number; staged: number; ordered: number; missing: number }[];
  lacking: string[];
  blocks: number;
  asked: { calls: number; sample: number[] };
  blocksPerSecond: number | null;
  cost: {
    requests: Estimate;
    bytesIn: Estimate;
    bytesStored: Estimate;
    stagingPeak: number;
    providers: { provider: string; units: Estimate; price: Estimate | null; currency: string | null }[];
    nodeSeconds: number;
  } | null;
}

/** A button that asks what the range in its form would take, and the answer. */
export function QuoteButton({
  inputOf,
}: {
  inputOf: (form: FormData) => { kinds: string[]; end: number | null };
}) {
  const [made, setMade] = useState<Quote | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const [busy, setBusy] = useState(false);
  const ask = async (event: MouseEvent): Promise<void> => {
    const { form } = event.currentTarget as HTMLButtonElement;
    if (form === null || !form.reportValidity()) return;
    setBusy(true);
    setError(null);
    try {
      const { end, ...input } = inputOf(new FormData(form));
      setMade(await read<Quote>('backfills/quote', { ...input, end: end ?? undefined }));
    } catch (problem) {
      setMade(null);
      setError(
        problem instanceof ApiError
          ? problem
          : new ApiError(400, 'INPUT_INVALID', (problem as Error).message, undefined, {}),
      );
    }
    setBusy(false);
  };
  return (
    <>
      <p>
        <button type="button" onClick={ask} disabled={busy}>
          {busy ? 'Asking the nodes …' : 'What would it take?'}
        </button>{' '}
        <span class="faint">asks the nodes for a sample: at most 100 calls; orders nothing</span>
      </p>
      {error !== null && <Problem error={error} />}
      {made !== null && <Answer quote={made} />}
    </>
  );
}

function Answer({ quote }: { quote: Quote }) {
  const { cost, blocks, blocksPerSecond } = quote;
  return (
    <section class="card" aria-label="What it would take" aria-live="polite">
      {quote.lacking.length > 0 && (
        <p class="wait">
          No node offers {quote.lacking.join(' and ')} with the rest: left out of this quote.
        </p>
      )}
      {cost === null ? (
        <p>Nothing is missing of this range: all is published, staged or ordered.</p>
      ) : (
        <>
          <dl class="facts">
            <dt>Blocks to fetch</dt>
            <dd>
              {count(blocks)}; the head is {count(quote.head)}
            </dd>
            <dt>Requests</dt>
            <dd>{estimate(cost.requests, (value) => count(Math.round(value)))}</dd>
            <dt>Bytes in</dt>
            <dd>{estimate(cost.bytesIn, bytes)}</dd>
            <dt>Bytes stored</dt>
            <dd>{estimate(cost.bytesStored, bytes)}</dd>
            {cost.providers.map(({ provider, units, price, currency }) => (
              <>
                <dt key={provider}>
                  At <bdi>{provider}</bdi>
                </dt>
                <dd>
                  {estimate(units, (value) => count(Math.round(value)))} units
                  {price !== null && `, ${estimate(price, (value) => value.toFixed(2))} ${currency ?? ''}`}
                </dd>
              </>
            ))}
            <dt>Peak of staging</dt>
            <dd>{bytes(cost.stagingPeak)}</dd>
            <dt>Time at the nodes’ limits</dt>
            <dd>{duration(cost.nodeSeconds * 1_000)}</dd>
            <dt>Time at today’s rate</dt>
            <dd>
              {blocksPerSecond === null
                ? 'unknown: no ingester of this network is at work'
                : `${duration((blocks / blocksPerSecond) * 1_000)} (${blocksPerSecond.toFixed(1)} blocks/s)`}
            </dd>
          </dl>
          <p class="faint">
            From {quote.asked.sample.length} sample blocks and {quote.asked.calls} node calls; the true figure
            is within the brackets in nine cases of ten.
          </p>
        </>
      )}
      <Table
        label="What there is of it"
        rows={quote.standing}
        keyOf={(row) => row.kind}
        columns={[
          { title: 'Kind', cell: (row) => row.kind },
          { title: 'Published', number: true, cell: (row) => count(row.published) },
          { title: 'Staged', number: true, cell: (row) => count(row.staged) },
          { title: 'Ordered', number: true, cell: (row) => count(row.ordered) },
          { title: 'Missing', number: true, cell: (row) => count(row.missing) },
        ]}
      />
    </section>
  );
}

function estimate({ value, low, high }: Estimate, format: (number: number) => string): string {
  return low === high ? format(value) : `${format(value)} (${format(low)} - ${format(high)})`;
}
