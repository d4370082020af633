import { useState } from 'preact/hooks';
import type { Answer, Input } from '../../lib/answers.js';
import { read } from '../../lib/api.js';
import { formatBytes, formatCount, formatDuration, formatRate, pluralize } from '../../lib/format.js';
import { useTask } from '../../lib/hooks/use-task.js';
import { Button } from '../../parts/button.js';
import { Facts } from '../../parts/facts.js';
import { Problem } from '../../parts/states.js';
import { Table } from '../../parts/table.js';

type Quote = Answer<'backfills/quote'>;
type Cost = NonNullable<Quote['cost']>;

/** A button that estimates the cost of the range in its form. */
export function QuoteButton({ getInput }: { getInput: (form: FormData) => Input<'backfills/quote'> }) {
  const [quote, setQuote] = useState<Quote | null>(null);
  const { busy, error, run } = useTask();
  const ask = (event: MouseEvent): void => {
    const { form } = event.currentTarget as HTMLButtonElement;
    if (form === null || !form.reportValidity()) return;
    void run(async () => {
      setQuote(null);
      const { to, ...input } = getInput(new FormData(form));
      setQuote(await read('backfills/quote', { ...input, to: to ?? undefined }));
    });
  };
  return (
    <>
      <p>
        <Button onClick={ask} busy={busy}>
          {busy ? 'Estimating…' : 'Estimate cost'}
        </Button>{' '}
        <span class="faint">Samples the nodes with at most 100 calls.</span>
      </p>
      {error !== null && <Problem error={error} />}
      {quote !== null && <Estimates quote={quote} />}
    </>
  );
}

function Estimates({ quote }: { quote: Quote }) {
  const { cost, lacking, standing } = quote;
  return (
    <section class="card" aria-label="Estimate" aria-live="polite">
      {lacking.length > 0 && (
        <p class="wait">No node serves {lacking.join(' and ')}, so this estimate leaves them out.</p>
      )}
      {cost === null ? (
        <p>Nothing to fetch: all blocks are published, staged or requested.</p>
      ) : (
        <CostFacts quote={quote} cost={cost} />
      )}
      <Table
        label="Availability"
        rows={standing}
        keyOf={(row) => row.kind}
        numbers={['Published', 'Staged', 'Requested', 'Missing']}
        columns={{
          Kind: (row) => row.kind,
          Published: (row) => formatCount(row.published),
          Staged: (row) => formatCount(row.staged),
          Requested: (row) => formatCount(row.ordered),
          Missing: (row) => formatCount(row.missing),
        }}
      />
    </section>
  );
}

function CostFacts({ quote, cost }: { quote: Quote; cost: Cost }) {
  const { asked, blocks, blocksPerSecond, head } = quote;
  const rounded = (value: number) => formatCount(Math.round(value));
  const providers = cost.providers.map(({ provider, units, price, currency }) => {
    const money = price && `, ${formatEstimate(price, (value) => value.toFixed(2))} ${currency ?? ''}`;
    return [provider, `${formatEstimate(units, rounded)} units${money ?? ''}`];
  });
  return (
    <>
      <Facts
        rows={{
          'Blocks to fetch': `${formatCount(blocks)} (head ${formatCount(head)})`,
          Requests: formatEstimate(cost.requests, rounded),
          'Data received': formatEstimate(cost.bytesIn, formatBytes),
          'Data stored': formatEstimate(cost.bytesStored, formatBytes),
          ...Object.fromEntries(providers),
          'Peak staging size': formatBytes(cost.stagingPeak),
          'Time at the nodes’ limits': formatDuration(cost.nodeSeconds * 1_000),
          'Time at the current rate':
            blocksPerSecond === null
              ? 'unknown: no ingester of this network is active'
              : `${formatDuration((blocks / blocksPerSecond) * 1_000)} (${formatRate(blocksPerSecond)} blocks/s)`,
        }}
      />
      <p class="faint">
        Based on {pluralize(asked.sample.length, 'sample block')} and {pluralize(asked.calls, 'call')}; 90 %
        interval in brackets.
      </p>
    </>
  );
}

function formatEstimate({ value, low, high }: Cost['requests'], format: (number: number) => string): string {
  return low === high ? format(value) : `${format(value)} (${format(low)} - ${format(high)})`;
}
