import type { ComponentChildren } from 'preact';
import { formatAgo, formatCount, formatDate } from '../lib/format.js';

/** Values by name. */
export function Facts({ rows }: { rows: Readonly<Record<string, ComponentChildren>> }) {
  return (
    <dl class="facts">
      {Object.entries(rows).map(([name, value]) => (
        <>
          <dt key={name}>{name}</dt>
          <dd>{value}</dd>
        </>
      ))}
    </dl>
  );
}

/** What something is called, where it is what a row is about. */
export const Name = ({ children }: { children: ComponentChildren }) => (
  <strong>
    <bdi>{children}</bdi>
  </strong>
);

/** How long ago; the date is its title. */
export const Ago = ({ at }: { at: string }) => <span title={formatDate(at)}>{formatAgo(at)}</span>;

/** When something was last used; null: never, as far as usage is kept. */
export const LastUse = ({ at }: { at: string | null }) =>
  at === null ? <span class="faint">never</span> : <Ago at={at} />;

/** What is used of a limit; null: unlimited. */
export function Usage({ label, used, limit }: { label: string; used: number; limit: number | null }) {
  if (limit === null) return <>{formatCount(used)} used (unlimited)</>;
  return (
    <>
      <progress value={Math.min(used, limit)} max={limit} aria-label={label} /> {formatCount(used)} of{' '}
      {formatCount(limit)}
      {used >= limit && <strong class="bad"> used up</strong>}
    </>
  );
}
