import type { ComponentProps } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { CurveButton } from '../../history/curve-button.js';
import type { Input } from '../../lib/answers.js';
import { formatBytes, formatCount } from '../../lib/format.js';
import { Select, toPeriods } from '../../parts/fields.js';
import { Read } from '../../parts/states.js';
import { Table } from '../../parts/table.js';
import type { StackedCurves } from './stacked-curves.js';

const PARTS = [
  ['method', 'method'],
  ['network', 'network'],
] as const;
const PERIODS = toPeriods([7, 30, 90]);

/** Usage by day, as stacked curves, and by method, as a table. */
export function UsageCharts(given: { name: 'own/usage' | 'keys/usage'; input?: Input<'keys/usage'> }) {
  const [since, setSince] = useState('30d');
  const [of, setOf] = useState('method');
  const { name, input } = given;
  return (
    <>
      <h2>Usage</h2>
      <Select label="Last" value={since} options={PERIODS} choose={setSince} />{' '}
      <CurveButton of={name === 'own/usage' ? { own: true } : { key: String(input?.key) }} figure="calls" />
      <Select label="by" value={of} options={PARTS} choose={setOf} />
      <Read
        name={name === 'own/usage' ? 'own/usage/series' : 'keys/usage/series'}
        input={{ ...input, since, of }}
        everyMs={30_000}
      >
        {(usage) => usage.series.length > 0 && <Curves label={`Units by day and ${of}`} usage={usage} />}
      </Read>
      <Read name={name} input={{ ...input, since, by: 'method' }} everyMs={30_000}>
        {({ rows }) => (
          <Table
            label="Usage by method"
            rows={rows}
            keyOf={(row) => row.name}
            empty="No requests in this period."
            numbers={['Requests', 'Units', 'Errors', 'Data sent']}
            columns={{
              Method: (row) => <bdi>{row.name}</bdi>,
              Requests: (row) => formatCount(row.requests),
              Units: (row) => formatCount(row.units),
              Errors: (row) => formatCount(row.errors),
              'Data sent': (row) => formatBytes(row.bytes),
            }}
          />
        )}
      </Read>
    </>
  );
}

type Chart = typeof StackedCurves;

/** Loaded when it is shown first: the first page has no charts. */
function Curves(props: ComponentProps<Chart>) {
  const [Loaded, setLoaded] = useState<Chart>();
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    import('./stacked-curves.js').then(
      ({ StackedCurves }) => setLoaded(() => StackedCurves),
      () => setFailed(true),
    );
  }, []);
  if (failed)
    return <p class="bad">The chart was not loaded. Reload the page; the table below has the sums.</p>;
  return Loaded === undefined ? <p class="waiting">Loading…</p> : <Loaded {...props} />;
}
