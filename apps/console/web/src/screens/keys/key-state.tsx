import { getNow } from '../../lib/clock.js';
import { formatDuration, formatTime } from '../../lib/format.js';
import { Chip } from '../../parts/chip.js';
import { getKeyCondition, KEY_CONDITIONS, type KeyRow } from './key-condition.js';

/** Whether a key works, and until when. */
export function KeyState({ row }: { row: Pick<KeyRow, 'revokedAt' | 'expiresAt'> }) {
  const { at, name } = getKeyCondition(row, getNow());
  const { tone, words } = KEY_CONDITIONS[name];
  return (
    <Chip tone={tone}>
      {words}{' '}
      {at !== null && (name === 'expiring' ? formatDuration(Date.parse(at) - getNow()) : formatTime(at))}
    </Chip>
  );
}
