import type { ComponentChildren } from 'preact';
import { getNow } from '../lib/clock.js';
import { formatDuration, formatTime } from '../lib/format.js';
import { Icon, type IconName } from './icon.js';

/** A state that needs an operator, as an item of a list: the cause, since when, until when, and what mends it. */
export function FindingItem(given: {
  tone: 'good' | 'wait' | 'bad';
  icon?: IconName;
  since?: string | null | undefined;
  until?: string | null | undefined;
  /** What happens then. */
  ends?: string | undefined;
  detail?: ComponentChildren;
  action?: ComponentChildren;
  children: ComponentChildren;
}) {
  const { tone, icon = tone, since, until, ends, detail, action, children } = given;
  const times = [
    since ? `since ${formatTime(since)}, ${formatDuration(getNow() - Date.parse(since))} ago` : null,
    until
      ? Date.parse(until) <= getNow()
        ? `${ends ?? 'ending'} now`
        : `${ends ?? 'until'} ${formatTime(until)}`
      : null,
  ].filter((text) => text !== null);
  return (
    <li class={`finding ${tone}`}>
      <Icon name={icon} />
      <div>
        <p>{children}</p>
        {(times.length > 0 || detail) && (
          <p class="faint">
            {times.join('; ')}
            {times.length > 0 && detail ? ': ' : ''}
            {detail && <bdi>{detail}</bdi>}
          </p>
        )}
      </div>
      <div class="actions">{action}</div>
    </li>
  );
}
