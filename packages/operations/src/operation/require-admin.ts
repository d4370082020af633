import { fail } from './fail.js';
import type { OperationParts } from './operation.js';

/** Throws ROLE_TOO_LOW unless the actor is an admin. `what` is a sentence about what only admins may. */
export function requireAdmin(
  { actor, role = 'admin' }: Pick<OperationParts, 'actor' | 'role'>,
  what: string,
): void {
  if (role === 'admin') return;
  fail('ROLE_TOO_LOW', `${what} ${actor} has the role ${role}.`, 'Ask an admin.');
}
