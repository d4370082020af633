import type { Scope } from '@packhouse/runtime';

/** Makes a question that is asked once for all who ask it at the same time. Rejects only when the asker is aborted. */
export function shareQuestion<T>(ask: (scope: Scope) => Promise<T>): (scope: Scope) => Promise<T> {
  let asking: Promise<T> | undefined;
  const shared = (scope: Scope): Promise<T> => {
    asking ??= ask(scope).finally(() => {
      asking = undefined;
    });
    // Whoever asked first may have been let go: that is no answer to the others.
    return asking.catch(() => {
      scope.signal.throwIfAborted();
      return shared(scope);
    });
  };
  return shared;
}
