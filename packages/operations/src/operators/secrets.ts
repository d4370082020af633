import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** A new secret: 32 random bytes as base64url, 43 characters. */
export function makeSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** What is kept of a secret. */
export function getHash(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

/** The token that changes by a session must carry: it can be made from the session's cookie only. */
export function getCsrf(session: string): string {
  return createHmac('sha256', session).update('packhouse csrf').digest('base64url');
}

/** Compares without telling by the time taken where they differ. */
export function isSame(a: string, b: string): boolean {
  return timingSafeEqual(getHash(a), getHash(b));
}
