/**
 * A value, or a promise of it. An answer from memory does without promises: for a pointer they cost as much as the
 * answer itself.
 */
export type Soon<T> = T | Promise<T>;

/** Continues with the value, synchronously if it is not a promise. */
export function whenHere<T, R>(value: Soon<T>, next: (value: T) => Soon<R>): Soon<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
