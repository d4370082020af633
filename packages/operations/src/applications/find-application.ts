import type { ListedApplication } from '@packhouse/database';
import { z } from 'zod';
import { fail } from '../operation/fail.js';
import { newNameField } from '../operation/fields.js';
import type { OperationParts } from '../operation/operation.js';
import { isInScope } from '../operation/own-scope.js';

/** The name of a new one. */
export const newApplicationField = z.string().trim().pipe(newNameField(100));

export const applicationField = z.string().min(1).max(10_000).describe('an application, by its name');

/** Throws APPLICATION_UNKNOWN, also for those of others if the actor is an owner. */
export async function findApplication(parts: OperationParts, name: string): Promise<ListedApplication> {
  const row = await parts.database.applications.named(name);
  if (row !== null && isInScope(parts, row.owner)) return row;
  // An owner is not told whether others have one of this name.
  fail(
    'APPLICATION_UNKNOWN',
    `Unknown application "${name.slice(0, 100)}".`,
    'See `packhouse applications list` for the names.',
  );
}
