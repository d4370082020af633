import type { Answer } from '../../lib/answers.js';
import { formatTime } from '../../lib/format.js';
import { toHref } from '../../lib/route.js';
import { useMayChange } from '../../lib/use-session.js';
import { ActionButton } from '../../parts/changes.js';
import { FindingItem } from '../../parts/finding.js';

export type Finding = Answer<'findings'>[number];

/** Findings that are shown at first. */
const MAX_SHOWN = 6;

/** What needs an operator: the cause, since when, until when, and what mends it. */
export function Findings({ rows }: { rows: readonly Finding[] }) {
  const items = rows.map((row, index) => <OneFinding key={`${row.kind} ${index}`} row={row} />);
  const more = items.slice(MAX_SHOWN);
  return (
    <section aria-label="Needs action">
      <ul class="findings">{items.slice(0, MAX_SHOWN)}</ul>
      {more.length > 0 && (
        <details>
          <summary>{more.length} more</summary>
          <ul class="findings">{more}</ul>
        </details>
      )}
    </section>
  );
}

/** How each kind looks, and in a few words what it is. */
export const FINDINGS: Readonly<Record<Finding['kind'], readonly [tone: 'bad' | 'wait', words: string]>> = {
  'nodes-silent': ['bad', 'No node answers'],
  'no-ingester': ['bad', 'No ingester'],
  'wrong-answer': ['bad', 'Wrong response'],
  alarm: ['bad', 'Alarm'],
  quarantine: ['wait', 'In quarantine'],
  budget: ['wait', 'Budget used up'],
  paused: ['wait', 'Backfill paused'],
};

function OneFinding({ row }: { row: Finding }) {
  const [tone] = FINDINGS[row.kind];
  const icon = row.kind === 'paused' ? 'paused' : tone;
  return (
    <FindingItem
      tone={tone}
      icon={icon}
      since={row.since}
      until={row.until}
      ends={row.kind === 'wrong-answer' ? 'next retry' : 'until'}
      detail={row.detail}
      action={<Cure row={row} />}
    >
      <strong>
        <bdi>{row.network}</bdi>
      </strong>
      :{' '}
      <bdi>
        {row.kind === 'nodes-silent' && row.since !== null
          ? `no node has answered since ${formatTime(row.since)}. Nothing is fetched.`
          : row.message}
      </bdi>
    </FindingItem>
  );
}

/** The one action that mends it, or the way to it. */
function Cure({ row }: { row: Finding }) {
  const { kind, network, cause, block, backfill, upstreams } = row;
  const mayChange = useMayChange();
  const link = (label: string, href: string) => (
    <a class="button" href={href}>
      {label}
    </a>
  );
  switch (kind) {
    case 'nodes-silent':
      return link('View nodes', toHref('nodes', { network, search: upstreams?.[0] }));
    case 'wrong-answer':
      return link('View block', toHref(`quarantine/${encodeURIComponent(network)}/${block}`));
    case 'quarantine':
      return link('View blocks', toHref('quarantine', { network, cause }));
    case 'alarm':
      return link('View alarm', toHref('alarms', { network }));
    case 'no-ingester':
      return link('View workers', toHref('workers'));
    case 'budget':
      return link('View budgets', toHref('budgets'));
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
