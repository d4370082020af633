/**
 * A value, or a promise of it. An answer from memory does without promises: for a pointer they cost as much as the
 * answer itself.
 */
export type MaybePromise<T> = T | Promise<T>;

/** Continues with the value, synchronously if it is not a promise. */
export function thenSync<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
