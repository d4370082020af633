import type { ComponentChildren } from 'preact';
import { TotalCurve } from '../../history/curve-button.js';
import { formatAgo, formatBytes, formatCount, formatRate, pluralize } from '../../lib/format.js';
import { useRead } from '../../lib/hooks/use-read.js';
import { toHref, useRoute } from '../../lib/route.js';
import { NewBackfillButton } from '../../parts/navigation.js';
import { GoTo } from '../../parts/networks.js';
import { Page } from '../../parts/page.js';
import { Problem, Read } from '../../parts/states.js';
import { Findings } from './findings.js';
import { getStandings, type Network } from './network-state.js';
import { Networks, StateMeter } from './networks.js';

/** What needs an operator, and all networks: progress and rate. */
export function Overview() {
  const { network: only } = useRoute().query;
  const found = useRead('findings', { network: only });
  return (
    <Page
      title="Overview"
      actions={
        <>
          <StartLink />
          <NewBackfillButton query={{ network: only }} />
        </>
      }
    >
      {found.error !== null && <Problem error={found.error} />}
      {found.value !== undefined && <Findings rows={found.value} />}
      {found.value === undefined && found.error === null && <p class="waiting">Loading…</p>}
      <Read name="overview">
        {(all) => {
          const networks = all.filter(({ network }) => only === undefined || network === only);
          const standings = getStandings(networks, found.value ?? []);
          if (all.length === 0) return <GoTo from="overview" href={toHref('start')} />;
          return (
            <>
              <Totals networks={networks} standings={standings} />
              <Networks networks={networks} standings={standings} />
            </>
          );
        }}
      </Read>
    </Page>
  );
}

/** While nobody has used a key. */
function StartLink() {
  const keys = useRead('keys', { limit: 2 }, 60_000).value?.rows;
  const isNew = keys !== undefined && keys.length < 2 && keys.every(({ lastUsedAt }) => lastUsedAt === null);
  return isNew ? <a href={toHref('start')}>Get started</a> : null;
}

const sum = <T,>(rows: readonly T[], of: (row: T) => number | null): number =>
  rows.reduce((total, row) => total + (of(row) ?? 0), 0);

function Totals({
  networks,
  standings,
}: {
  networks: readonly Network[];
  standings: ReturnType<typeof getStandings>;
}) {
  const kinds = networks.flatMap((each) => each.kinds);
  const alarms = networks.flatMap((each) => each.alarms);
  const [oldest] = alarms.map(({ raisedAt }) => raisedAt).sort();
  const quarantined = sum(networks, (each) => each.quarantinedBlocks);
  const rate = kinds.every((each) => each.blocksPerSecond === null)
    ? null
    : sum(kinds, (each) => each.blocksPerSecond);
  const size = sum(kinds, (each) => each.bytesPerSecond);
  return (
    <dl class="figures">
      <Figure
        title="Published/s"
        note={rate === null ? 'available in a few seconds' : `blocks, ${formatBytes(size)}/s`}
      >
        {rate === null ? '…' : formatRate(rate)}
        <TotalCurve figure="blocks" />
      </Figure>
      <Figure title="Networks">
        {formatCount(networks.length)}
        <StateMeter standings={standings} />
        <TotalCurve figure="networks" />
      </Figure>
      <Figure
        title="Stored"
        note={pluralize(
          sum(kinds, (each) => each.bundles),
          'bundle',
        )}
      >
        {formatBytes(sum(kinds, (each) => each.bytes))}
        <TotalCurve figure="storedBytes" />
      </Figure>
      <Figure
        title="Quarantined blocks"
        note={quarantined === 0 ? 'none' : <a href={toHref('quarantine')}>View causes</a>}
        tone={quarantined > 0 ? 'wait' : undefined}
      >
        {formatCount(quarantined)}
        <TotalCurve figure="quarantined" />
      </Figure>
      <Figure
        title="Open alarms"
        note={oldest === undefined ? 'none' : <a href={toHref('alarms')}>Oldest {formatAgo(oldest)}</a>}
        tone={alarms.length > 0 ? 'bad' : undefined}
      >
        {formatCount(alarms.length)}
        <TotalCurve figure="alarms" />
      </Figure>
    </dl>
  );
}

/** A number with its title and a second line. */
const Figure = (given: {
  title: string;
  note?: ComponentChildren;
  tone?: 'wait' | 'bad' | undefined;
  children: ComponentChildren;
}) => (
  <div>
    <dt>{given.title}</dt>
    <dd class={given.tone}>
      {given.children}
      {given.note !== undefined && <small>{given.note}</small>}
    </dd>
  </div>
);
