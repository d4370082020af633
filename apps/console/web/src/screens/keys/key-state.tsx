import { getNow } from '../../lib/clock.js';
import { formatDuration, formatTime } from '../../lib/format.js';
import { Chip } from '../../parts/chip.js';
import type { KeyRow } from './one-key.js';

/** A key that ends so soon says so, in milliseconds. */
const SOON_MS = 14 * 86_400_000;

/** Whether a key works, and until when. */
export function KeyState({
  row: { revokedAt, expiresAt },
}: {
  row: Pick<KeyRow, 'revokedAt' | 'expiresAt'>;
}) {
  if (revokedAt !== null) return <Chip tone="off">Revoked {formatTime(revokedAt)}</Chip>;
  if (expiresAt === null) return <Chip tone="good">Active</Chip>;
  const left = Date.parse(expiresAt) - getNow();
  if (left <= 0) return <Chip tone="bad">Expired {formatTime(expiresAt)}</Chip>;
  if (left < SOON_MS) return <Chip tone="wait">Expires in {formatDuration(left)}</Chip>;
  return <Chip tone="good">Active until {formatTime(expiresAt).slice(0, 10)}</Chip>;
}
