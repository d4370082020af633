import type { OperationParts } from './operation.js';

/** Writes to the change log. `subject` is a kind and a name: `plan free`. */
export function noteChange(
  { database, actor }: Pick<OperationParts, 'database' | 'actor'>,
  subject: string,
  action: string,
  before: object | null,
  after: object | null,
): Promise<void> {
  return database.changes.add({ actor, subject, action, before, after });
}
