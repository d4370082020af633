import { fail } from './fail.js';
import type { OperationParts } from './operation.js';

type Actor = Pick<OperationParts, 'actor' | 'role'>;

/** The account whose applications alone the actor sees and manages; undefined: all. */
export const getOwnScope = ({ actor, role = 'admin' }: Actor): string | undefined =>
  role === 'owner' ? actor : undefined;

/** Whether the actor sees what belongs to an application of this owner. */
export function isInScope(actor: Actor, owner: string | null): boolean {
  const scope = getOwnScope(actor);
  return scope === undefined || scope === owner;
}

/** Throws ROLE_TOO_LOW if an owner gives one of these fields: they say what a key opens, which operators decide. */
export function refuseOfOwner(actor: Actor, given: Readonly<Record<string, unknown>>): void {
  if (getOwnScope(actor) === undefined) return;
  const names = Object.keys(given).filter((name) => given[name] !== undefined);
  if (names.length === 0) return;
  fail(
    'ROLE_TOO_LOW',
    `Only operators change ${names.join(', ')}; ${actor.actor} has the role owner.`,
    'Owners change allowed origins and addresses. Ask an operator for the rest.',
  );
}
