import { useState } from 'preact/hooks';
import type { Answer } from '../../lib/answers.js';
import { getNow } from '../../lib/clock.js';
import { formatBlocks, formatCount, formatTime, pluralize } from '../../lib/format.js';
import { useRead } from '../../lib/hooks/use-read.js';
import { useMayChange } from '../../lib/hooks/use-session.js';
import { REASONS } from '../../lib/reasons.js';
import { toHref } from '../../lib/route.js';
import { ActionButton } from '../../parts/changes.js';
import { Chip } from '../../parts/chip.js';
import { ALL, type Option, Select } from '../../parts/fields.js';
import { ButtonLink } from '../../parts/navigation.js';
import { Empty, Read } from '../../parts/states.js';
import { Table } from '../../parts/table.js';
import { HolesExport } from './holes-export.js';
import type { View } from './map/coverage-view.js';

type HolesPage = Answer<'coverage/holes'>;
type Hole = HolesPage['holes'][number];
type Backfill = Answer<'backfills'>['rows'][number];

/** The reasons that a choice shows. */
const CHOICES: Readonly<Record<string, readonly string[]>> = {
  due: getReasons((reason) => reason.group !== 'quiet'),
  action: getReasons(({ acts }) => acts),
  all: Object.keys(REASONS),
};
const OPTIONS: Option[] = [
  ['due', 'All that are due'],
  ['action', 'Needs action'],
  ['all', 'All, including not requested'],
  ...Object.entries(REASONS).map(([reason, { label }]): Option => [reason, label]),
];
const RANK = Object.keys(REASONS);

function getReasons(is: (reason: (typeof REASONS)[string]) => boolean): string[] {
  return Object.entries(REASONS).flatMap(([name, reason]) => (is(reason) ? [name] : []));
}

/** The holes of what the map shows, the worst first, each with its cause and its remedy, and all of them as a file. */
export function HolesTable({
  network,
  view,
  kinds,
}: {
  network: string;
  view: View;
  kinds: readonly string[];
}) {
  const [choice, choose] = useState('due');
  const [kind, chooseKind] = useState('');
  const reasons = CHOICES[choice] ?? [choice];
  const input = { network, ...view, kinds: kind === '' ? undefined : kind, limit: 100 };
  return (
    <>
      <h2>Holes in blocks {formatBlocks(view)}, worst first</h2>
      <div class="toolbar">
        <Select label="Reason" value={choice} options={OPTIONS} choose={choose} />
        <Select label="Kind" value={kind} options={[ALL, ...kinds]} choose={chooseKind} />
        <HolesExport network={network} view={view} />
      </div>
      <Read name="coverage/holes" input={{ ...input, reasons: reasons.join(',') }} everyMs={10_000}>
        {({ holes, next, others, range }) => {
          const sorted = [...holes].sort((a, b) => RANK.indexOf(a.reason) - RANK.indexOf(b.reason));
          const whole = next === null;
          if (holes.length === 0 && others === 0 && whole)
            return <Empty>All of these blocks are published.</Empty>;
          return (
            <>
              {holes.length === 0 ? (
                <Empty>
                  No holes with these reasons up to block {formatCount(range.to)}.{' '}
                  {others > 0 && `${formatCount(others)} with other reasons are hidden.`}{' '}
                  <button type="button" onClick={() => choose('all')}>
                    Show all
                  </button>
                </Empty>
              ) : (
                <Rows network={network} rows={sorted} />
              )}
              {!whole && (
                <p class="faint">
                  Showing holes up to block {formatCount(range.to)}. Zoom in or select a reason to see later
                  ones.
                </p>
              )}
            </>
          );
        }}
      </Read>
    </>
  );
}

function Rows({ network, rows }: { network: string; rows: readonly Hole[] }) {
  const backfills = useRead('backfills', { network, limit: 1_000 }, 15_000).value?.rows ?? [];
  const getBackfill = (hole: Hole, state: Backfill['state']): Backfill | undefined =>
    backfills.find(
      (each) =>
        each.state === state &&
        each.kinds.some((kind) => kind === hole.kind) &&
        each.from <= hole.to &&
        (each.to ?? Number.POSITIVE_INFINITY) >= hole.from,
    );
  return (
    <Table
      label="Holes"
      rows={rows}
      keyOf={({ kind, from }) => `${kind} ${from}`}
      numbers={['Count']}
      columns={{
        Reason: ({ reason }) => {
          const known = REASONS[reason];
          const group = known?.group ?? 'broken';
          return <Chip tone={TONES[group]}>{known?.label ?? reason}</Chip>;
        },
        Kind: (hole) => <span class="word">{hole.kind}</span>,
        Blocks: (hole) => (
          <a class="word" href={toHref('coverage', { network, ...zoomOut(hole) })}>
            {formatBlocks(hole)}
          </a>
        ),
        Count: ({ from: start, to: end }) => formatCount(end - start + 1),
        Cause: (hole) => <Cause network={network} hole={hole} />,
        Action: (hole) => <Remedy network={network} hole={hole} getBackfill={getBackfill} />,
      }}
    />
  );
}

const TONES = { broken: 'bad', held: 'wait', queue: 'info', working: 'info', quiet: 'off' } as const;

function Cause({ network, hole }: { network: string; hole: Hole }) {
  const { advice, from: start, quarantine, since } = hole;
  const begun = since === null ? '' : ` Since ${formatTime(since)}.`;
  if (quarantine === null) {
    return (
      <>
        {advice}
        {begun}
      </>
    );
  }
  const { attempts, cause, nextTry } = quarantine;
  const due = Date.parse(nextTry) <= getNow();
  return (
    <>
      <a href={toHref(`quarantine/${encodeURIComponent(network)}/${start}`)}>
        <strong>{cause}</strong>
      </a>
      , failed {pluralize(attempts, 'time')}; next retry {due ? 'now' : formatTime(nextTry)}.{begun}
    </>
  );
}

/** A hole with as many blocks at both sides of it. */
function zoomOut({ from, to }: View): View {
  const size = to - from + 1;
  return { from: Math.max(0, from - size), to: to + size };
}

/** The remedy of a hole: a button, or a link to one. */
function Remedy(props: {
  network: string;
  hole: Hole;
  getBackfill: (hole: Hole, state: Backfill['state']) => Backfill | undefined;
}) {
  const { network, hole, getBackfill } = props;
  const { reason, from: start, to: end, kind } = hole;
  const [retried, setRetried] = useState(false);
  const mayChange = useMayChange();
  const link = (label: string, href: string) => <ButtonLink label={label} href={href} />;
  if (reason === 'halted') return link('View alarms', toHref('alarms', { network }));
  if (reason === 'throttled') return link('View workers', toHref('workers'));
  if (reason === 'cancelled' || reason === 'not-requested') {
    return link('New backfill', toHref('backfills/new', { network, kinds: kind, from: start, to: end }));
  }
  if (reason === 'paused') {
    const id = getBackfill(hole, 'paused')?.id;
    if (id === undefined || !mayChange)
      return link('View backfills', toHref('backfills', { network, state: 'paused' }));
    return (
      <ActionButton
        name="backfills/state"
        input={{ id, state: 'active', expected: { state: 'paused' } }}
        subject={`backfill ${id}`}
      >
        {`Resume backfill ${id}`}
      </ActionButton>
    );
  }
  if (reason !== 'quarantined') {
    const id = getBackfill(hole, 'active')?.id;
    return id === undefined ? null : link('View backfill', toHref(`backfills/${id}`));
  }
  if (!mayChange) {
    return link('View responses', toHref(`quarantine/${encodeURIComponent(network)}/${start}`));
  }
  return (
    <>
      <ActionButton
        name="quarantine/retry"
        input={{ network, from: start, to: end }}
        done={() => setRetried(true)}
      >
        Retry now
      </ActionButton>
      {retried && <p role="status">Queued for retry.</p>}
    </>
  );
}
