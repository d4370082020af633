import type { OperationParts } from './operation.js';

/** Writes a change to the log of actions. `subject` is a kind and a name: `plan free`. */
export function noteChange(
  { database, who }: Pick<OperationParts, 'database' | 'who'>,
  subject: string,
  action: string,
  before: object | null,
  after: object | null,
): Promise<void> {
  return database.changes.add({
    who,
    subject,
    action,
    before: before && { ...before },
    after: after && { ...after },
  });
}
