import { createHmac, randomBytes } from 'node:crypto';

/*
 * Signatures of webhooks as in the Standard Webhooks specification (1.0.0): `v1,` and the base64 of HMAC-SHA256 over
 * `<id>.<timestamp>.<body>`, by a secret that is shown as `whsec_` and its base64.
 */

const SALT_BYTES = 32;
const PREFIX = 'whsec_';

/** What a secret is derived from; another one makes another secret. */
export function makeHookSalt(): Buffer {
  return randomBytes(SALT_BYTES);
}

/**
 * The secret of a hook as its receiver gets it, once. It is stored nowhere: `seal` is the key of the installation, and
 * neither a row of the hook nor its history says the secret.
 */
export function toHookSecret(seal: Buffer, salt: Buffer): string {
  return `${PREFIX}${deriveKey(seal, salt).toString('base64')}`;
}

/** The header `webhook-signature`: a signature by each salt, the newest first. `timestamp` is in seconds since 1970. */
export function signDelivery(
  seal: Buffer,
  salts: readonly Buffer[],
  { id, timestamp, body }: { id: string; timestamp: number; body: string },
): string {
  const text = `${id}.${timestamp}.${body}`;
  return salts
    .map((salt) => `v1,${createHmac('sha256', deriveKey(seal, salt)).update(text).digest('base64')}`)
    .join(' ');
}

function deriveKey(seal: Buffer, salt: Buffer): Buffer {
  return createHmac('sha256', seal).update('packhouse webhook secret').update(salt).digest();
}
