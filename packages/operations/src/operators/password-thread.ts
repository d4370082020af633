import { randomBytes } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import { argon2id, argon2Verify } from 'hash-wasm';
import type { PasswordOrder } from './passwords.js';

/** Argon2id as OWASP's Password Storage Cheat Sheet asks at least: 19 MiB, 2 passes, 1 lane. */
const COST = {
  parallelism: 1,
  iterations: 2,
  memorySize: 19_456,
  hashLength: 32,
  outputType: 'encoded',
} as const;

const answer = ({ password, hash }: PasswordOrder): Promise<string | boolean> =>
  hash === null ? argon2id({ password, salt: randomBytes(16), ...COST }) : argon2Verify({ password, hash });

// The program of a thread: it answers each order in its turn, with a new hash or whether the password fits.
let last: Promise<unknown> = Promise.resolve();
parentPort?.on('message', (order: PasswordOrder) => {
  last = last.then(async () => parentPort?.postMessage(await answer(order)));
});
