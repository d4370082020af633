import { getAlarmCure } from '../../lib/alarm-cures.js';
import { formatCount, formatTime, pluralize } from '../../lib/format.js';
import { useMayChange } from '../../lib/hooks/use-session.js';
import { toHref } from '../../lib/route.js';
import { ActionButton } from '../../parts/changes.js';
import { Name } from '../../parts/facts.js';
import { FindingItem } from '../../parts/finding.js';
import { ButtonLink } from '../../parts/navigation.js';
import { FINDINGS, type Finding } from './finding-kinds.js';

/** Findings that are shown at first, and behind that. */
const MAX_SHOWN = 6;
const MAX_MORE = 100;

/** What needs an operator: the cause, since when, until when, and what mends it. */
export function Findings({ rows }: { rows: readonly Finding[] }) {
  const show = (some: readonly Finding[]) =>
    some.map((row, index) => <OneFinding key={`${row.kind} ${row.network} ${index}`} row={row} />);
  const more = rows.slice(MAX_SHOWN);
  return (
    <section aria-label="Needs action">
      <ul class="findings">{show(rows.slice(0, MAX_SHOWN))}</ul>
      {more.length > 0 && (
        <details>
          <summary>{formatCount(more.length)} more</summary>
          <ul class="findings">{show(more.slice(0, MAX_MORE))}</ul>
          {more.length > MAX_MORE && (
            <p class="faint">
              {formatCount(more.length - MAX_MORE)} more are not shown. Select a network to see all of its
              findings.
            </p>
          )}
        </details>
      )}
    </section>
  );
}

/** What happens at `until`. */
const ENDS: Readonly<Partial<Record<Finding['kind'], string>>> = {
  'wrong-answer': 'next retry',
  quarantine: 'next retry',
};

function OneFinding({ row }: { row: Finding }) {
  const { alarms, detail, kind, since, until } = row;
  const [tone] = FINDINGS[kind];
  return (
    <FindingItem
      tone={tone}
      icon={kind === 'paused' ? 'paused' : tone}
      since={since}
      until={until}
      ends={ENDS[kind]}
      detail={
        (detail !== null || alarms.length > 0) && (
          <>
            <bdi>{detail}</bdi> {alarms.length > 0 && <code>{alarms.join(', ')}</code>}
          </>
        )
      }
      action={<Remedy row={row} />}
    >
      <Sentence row={row} />
    </FindingItem>
  );
}

function Sentence({ row: { kind, message, network, others = 0, since } }: { row: Finding }) {
  const name = <Name>{network}</Name>;
  if (kind === 'nodes-silent' && since !== null) {
    return (
      <>
        No node of {name} has answered since {formatTime(since)}. Nothing is fetched.
      </>
    );
  }
  // It concerns no network.
  if (kind === 'key-expires') return <bdi>{`${message.slice(0, 1).toUpperCase()}${message.slice(1)}`}</bdi>;
  return (
    <>
      {name}
      {others > 0 && ` and ${pluralize(others, 'more network')}`}: <bdi>{message}</bdi>
    </>
  );
}

/** The one action that mends it, or the way to it. */
function Remedy({ row }: { row: Finding }) {
  const { alarms, backfill, block, cause, key, kind, network, provider, upstreams } = row;
  const mayChange = useMayChange();
  const link = (label: string, href: string) => <ButtonLink label={label} href={href} />;
  switch (kind) {
    case 'nodes-silent':
      return link('View nodes', toHref('nodes', { network, search: upstreams?.[0] }));
    case 'wrong-answer':
      return link('View block', toHref(`quarantine/${encodeURIComponent(network)}/${block}`));
    case 'quarantine':
      return link('View blocks', toHref('quarantine', { network, cause }));
    case 'alarm': {
      const cure = getAlarmCure(alarms[0] ?? '', network);
      return cure === null ? link('View alarm', toHref('alarms', { network })) : link(cure.label, cure.href);
    }
    case 'no-ingester':
      return link('View workers', toHref('workers'));
    case 'budget':
      return link('Edit budget', toHref('budgets', { provider }));
    case 'key-expires':
      return link(
        key === undefined ? 'View keys' : 'View key',
        toHref(key === undefined ? 'keys' : `keys/${key}`),
      );
    case 'paused':
      if (backfill === undefined)
        return link('View backfills', toHref('backfills', { network, state: 'paused' }));
      return mayChange ? (
        <ActionButton
          name="backfills/state"
          input={{ id: backfill, state: 'active', expected: { state: 'paused' } }}
          subject={`backfill ${backfill}`}
        >
          Resume
        </ActionButton>
      ) : (
        link('View backfill', toHref(`backfills/${backfill}`))
      );
  }
}
