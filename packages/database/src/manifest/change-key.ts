import { keyIdOf } from '@packhouse/manifest';
import { PackhouseError } from '@packhouse/runtime';
import type { Connections, Session } from '../connection/connections.js';
import type { SigningKeyRow } from '../database.js';
import { insertKey } from './insert-key.js';
import { lockKeys } from './lock-keys.js';
import { retireKeys } from './retire-keys.js';
import { selectKeys } from './select-keys.js';

/**
 * Makes a key the current one: where there is none, or (`retire`) in the place of the one there is. Gives the one
 * that is current then. Throws SIGNING_KEY_CHANGED where a retired key is to be taken again.
 */
export function changeKey(
  connections: Connections,
  publicKey: Buffer,
  { retire }: { retire: boolean },
): Promise<SigningKeyRow> {
  const keyId = keyIdOf(publicKey);
  return connections.transaction(async (session) => {
    await session.query(lockKeys, []);
    if (retire) await retireOthers(session, keyId);
    await session.query(insertKey, [keyId, publicKey]);
    const rows = await session.query<SigningKeyRow>(selectKeys, []);
    const current = rows.find((row) => row.retiredAt === null);
    if (current !== undefined) return current;
    throw retired(keyId);
  });
}

async function retireOthers(session: Session, keyId: string): Promise<void> {
  const rows = await session.query<SigningKeyRow>(selectKeys, []);
  if (rows.some((row) => row.keyId === keyId && row.retiredAt !== null)) throw retired(keyId);
  await session.query(retireKeys, [keyId]);
}

function retired(keyId: string): PackhouseError {
  return new PackhouseError({
    code: 'SIGNING_KEY_CHANGED',
    message: `The signing key ${keyId} that is here was retired, and a retired key signs nothing more.`,
    hint: 'Move its file away and run `packhouse manifest rotate`, which makes a new one.',
    data: { got: keyId },
  });
}
