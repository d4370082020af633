import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

const RANDOM_BYTES = 32;
const MAC_BYTES = 16;
/** 48 bytes as base64url. */
const SECRET = /^[\w-]{64}$/;

/** A new secret: random bytes and their MAC by `seal`. */
export function makeSecret(seal: Buffer): string {
  const random = randomBytes(RANDOM_BYTES);
  return Buffer.concat([random, getMac(seal, random)]).toString('base64url');
}

/** Whether `makeSecret` made it: of others no database need be asked. */
export function isSealed(seal: Buffer, secret: string): boolean {
  if (!SECRET.test(secret)) return false;
  const bytes = Buffer.from(secret, 'base64url');
  return timingSafeEqual(bytes.subarray(RANDOM_BYTES), getMac(seal, bytes.subarray(0, RANDOM_BYTES)));
}

function getMac(seal: Buffer, random: Buffer): Buffer {
  return createHmac('sha256', seal).update(random).digest().subarray(0, MAC_BYTES);
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
