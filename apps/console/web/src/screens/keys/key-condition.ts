import type { Answer } from '../../lib/answers.js';

export type KeyRow = Answer<'keys'>['rows'][number];

/** What a key can be at. */
type KeyConditionName = 'revoked' | 'expired' | 'expiring' | 'limited' | 'active';

/** How each looks. */
export const KEY_CONDITIONS: Readonly<
  Record<KeyConditionName, { tone: 'good' | 'wait' | 'bad' | 'off'; words: string }>
> = {
  revoked: { tone: 'off', words: 'Revoked' },
  expired: { tone: 'bad', words: 'Expired' },
  expiring: { tone: 'wait', words: 'Expires in' },
  limited: { tone: 'good', words: 'Active until' },
  active: { tone: 'good', words: 'Active' },
};

/** A key that ends so soon says so, in milliseconds. */
const SOON_MS = 14 * 86_400_000;

/** Whether a key works, and since or until when. */
export function getKeyCondition(
  { revokedAt, expiresAt }: Pick<KeyRow, 'revokedAt' | 'expiresAt'>,
  now: number,
): { name: KeyConditionName; at: string | null } {
  if (revokedAt !== null) return { name: 'revoked', at: revokedAt };
  if (expiresAt === null) return { name: 'active', at: null };
  const left = Date.parse(expiresAt) - now;
  return { name: left <= 0 ? 'expired' : left < SOON_MS ? 'expiring' : 'limited', at: expiresAt };
}
