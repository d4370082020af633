/**
 * A value that is here already, or a promise of it. What is answered from memory does not pay for promises: on the
 * way of a pointer they cost as much as the answer itself.
 */
export type Soon<T> = T | Promise<T>;

/** Goes on with the value, at once where it is here. */
export function whenHere<T, R>(value: Soon<T>, next: (value: T) => Soon<R>): Soon<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
