/** What a program started or made and has to end or remove, whatever happens. */
export interface Scope {
  /** Adds something to undo; what was added last is undone first. */
  defer(undo: () => Promise<unknown> | unknown): void;
  /** Undoes everything, also where some of it fails; the first failure is thrown at the end. May be called twice. */
  close(): Promise<void>;
}

/** Those that are open: a signal may come at any moment. */
const open = new Set<Scope>();

/** Makes an empty scope. */
export function createScope(): Scope {
  const undos: (() => Promise<unknown> | unknown)[] = [];
  const scope: Scope = {
    defer(undo) {
      undos.push(undo);
    },
    async close() {
      const failures: unknown[] = [];
      for (let undo = undos.pop(); undo !== undefined; undo = undos.pop()) {
        try {
          await undo();
        } catch (error) {
          failures.push(error);
        }
      }
      open.delete(scope);
      if (failures.length > 0) throw failures[0];
    },
  };
  open.add(scope);
  return scope;
}

/** Undoes everything of every open scope, whatever fails. */
export async function closeOpenScopes(): Promise<void> {
  await Promise.allSettled([...open].map((scope) => scope.close()));
}
