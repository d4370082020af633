import { hostname, userInfo } from 'node:os';
import { PackhouseError } from '@packhouse/runtime';
import type { CliIo } from '../terminal/io.js';

/**
 * Who changes something, for the history of changes: PACKHOUSE_OPERATOR, else the system's user and host. Throws
 * SETTINGS_INVALID.
 */
export function operatorName({ env }: Pick<CliIo, 'env'>): string {
  const name = env.PACKHOUSE_OPERATOR;
  if (!name) return `${systemUser()}@${hostname()}`;
  if (/^[\p{L}\p{N}][\p{L}\p{N} ._@+/-]{0,127}$/u.test(name)) return name;
  throw new PackhouseError({
    code: 'SETTINGS_INVALID',
    message: `PACKHOUSE_OPERATOR takes 1 to 128 letters, digits, spaces and . _ @ + / -, got ${JSON.stringify(name)}.`,
    hint: 'For example PACKHOUSE_OPERATOR=ada@example.com.',
  });
}

/** The user's name; in a container, whose user may have none, its number. */
function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid-${process.getuid?.() ?? 'unknown'}`;
  }
}
