import { expect, it } from 'vitest';
import { closeOpenScopes, createScope } from './scope.js';

it('undoes in reverse order, all of it, and then tells the first failure', async () => {
  const scope = createScope();
  const undone: string[] = [];
  scope.defer(() => undone.push('first'));
  scope.defer(() => {
    throw new Error('second could not be undone');
  });
  scope.defer(async () => undone.push('third'));
  await expect(scope.close()).rejects.toThrow('second could not be undone');
  expect(undone).toEqual(['third', 'first']);
  await scope.close();
  expect(undone).toHaveLength(2);
});

it('closes what is still open when a signal ends the run', async () => {
  const undone: string[] = [];
  const [kept, closed] = [createScope(), createScope()];
  kept.defer(() => undone.push('kept'));
  closed.defer(() => undone.push('closed'));
  await closed.close();
  await closeOpenScopes();
  expect(undone).toEqual(['closed', 'kept']);
});
