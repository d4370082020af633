import type { ComponentProps } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { CurveButton } from '../../history/curve-button.js';
import { formatBytes, formatCount } from '../../lib/format.js';
import { useIsOwner } from '../../lib/hooks/use-session.js';
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
export function UsageCharts({
  of,
}: {
  /** A key, all keys of an application, or the key that signed in. */
  of: { key: string } | { application: string } | null;
}) {
  const [since, setSince] = useState('30d');
  const [part, setPart] = useState('method');
  return (
    <>
      <h2>Usage</h2>
      <Select label="Last" value={since} options={PERIODS} choose={setSince} /> <KeyCurve of={of} />
      <Select label="by" value={part} options={PARTS} choose={setPart} />
      <Read
        name={of === null ? 'own/usage/series' : 'keys/usage/series'}
        input={{ ...of, since, of: part }}
        everyMs={30_000}
      >
        {(usage) => usage.series.length > 0 && <Curves label={`Units by day and ${part}`} usage={usage} />}
      </Read>
      <Read
        name={of === null ? 'own/usage' : 'keys/usage'}
        input={{ ...of, since, by: part }}
        everyMs={30_000}
      >
        {({ rows }) => (
          <Table
            label={`Usage by ${part}`}
            rows={rows}
            keyOf={(row) => row.name}
            empty="No requests in this period."
            numbers={['Requests', 'Units', 'Errors', 'Data sent']}
            columns={{
              [part === 'method' ? 'Method' : 'Network']: (row) => <bdi>{row.name}</bdi>,
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

/** The samples of a key; an application has none of its own, and owners read no history. */
function KeyCurve({ of }: { of: ComponentProps<typeof UsageCharts>['of'] }) {
  const isOwner = useIsOwner();
  if (of === null) return <CurveButton of={{ own: true }} figure="calls" />;
  return 'key' in of && !isOwner ? <CurveButton of={{ key: of.key }} figure="calls" /> : null;
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
  if (failed) return <p class="bad">The chart failed to load. Reload the page, or see the table below.</p>;
  return Loaded === undefined ? <p class="waiting">Loading…</p> : <Loaded {...props} />;
}
