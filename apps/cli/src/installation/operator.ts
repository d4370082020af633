import { hostname, userInfo } from 'node:os';
import { findUnclear, PackhouseError } from '@packhouse/runtime';
import type { CliIo } from '../terminal/io.js';

/**
 * Who changes something, for the history of changes: PACKHOUSE_OPERATOR, else the system's user and host. Throws
 * SETTINGS_INVALID.
 */
export function operatorName({ env }: Pick<CliIo, 'env'>): string {
  const name = env.PACKHOUSE_OPERATOR;
  if (!name) return `${systemUser()}@${hostname()}`;
  if (/^[\p{L}\p{N}][\p{L}\p{M}\p{N} ._@+/-]{0,127}$/u.test(name) && findUnclear(name) === null) return name;
  throw new PackhouseError({
    code: 'SETTINGS_INVALID',
    message: `PACKHOUSE_OPERATOR takes 1 to 128 letters of one script, digits, spaces and . _ @ + / -, got ${shown(name)}.`,
    hint: 'For example PACKHOUSE_OPERATOR=ada@example.com.',
  });
}

/** A name as a terminal can show it: without what would change the terminal, or the order of letters. */
function shown(name: string): string {
  return JSON.stringify(name.slice(0, 128)).replace(
    /\p{C}/gu,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** The user's name; in a container, whose user may have none, its number. */
function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid-${process.getuid?.() ?? 'unknown'}`;
  }
}
