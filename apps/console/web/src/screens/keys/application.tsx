import type { Answer } from '../../lib/answers.js';
import { formatTime } from '../../lib/format.js';
import { toHref } from '../../lib/route.js';
import { Chip } from '../../parts/chip.js';

export type Application = Answer<'applications'>['rows'][number];

/** The address of its page: a name may have any character. */
export const toApplication = (name: string): string => toHref('keys', { application: name });

export const KeyLink = ({ prefix }: { prefix: string }) => (
  <a class="word" href={toHref(`keys/${prefix}`)}>
    <code>{prefix}</code>
  </a>
);

/** Whether it is in use. */
export function ApplicationState({
  row: { archivedAt, liveKeys },
}: {
  row: Pick<Application, 'archivedAt' | 'liveKeys'>;
}) {
  if (archivedAt !== null) return <Chip tone="off">Archived {formatTime(archivedAt)}</Chip>;
  return liveKeys === 0 ? <Chip tone="off">No live keys</Chip> : <Chip tone="good">Active</Chip>;
}
