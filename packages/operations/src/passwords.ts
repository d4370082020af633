import { randomBytes } from 'node:crypto';
import { argon2id, argon2Verify } from 'hash-wasm';

/** Argon2id as OWASP's Password Storage Cheat Sheet asks at least: 19 MiB, 2 passes, 1 lane. */
const COST = {
  parallelism: 1,
  iterations: 2,
  memorySize: 19_456,
  hashLength: 32,
  outputType: 'encoded',
} as const;

/** The hash of a password in PHC form. */
export function hashPassword(password: string): Promise<string> {
  return argon2id({ password, salt: randomBytes(16), ...COST });
}

let nobody: Promise<string> | undefined;

/** Whether this is the password; without a hash it takes as long and is not. */
export async function isPassword(password: string, hash: string | null): Promise<boolean> {
  nobody ??= hashPassword(randomBytes(16).toString('hex'));
  const same = await argon2Verify({ password, hash: hash ?? (await nobody) });
  return same && hash !== null;
}
