/** What a call needs of an AbortSignal; every AbortSignal is one. */
export interface CallSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void, options?: { once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/**
 * Stops a call: an AbortController that is its own signal, and tells each listener once. Node's own costs some ten
 * microseconds to make, listen to and abort, as much as all the rest of a small call.
 */
export class CallController implements CallSignal {
  aborted = false;
  reason: unknown;
  /** Most calls have one or two listeners. */
  #listeners: (() => void)[] = [];

  addEventListener(_: 'abort', listener: () => void): void {
    this.#listeners.push(listener);
  }

  removeEventListener(_: 'abort', listener: () => void): void {
    const at = this.#listeners.indexOf(listener);
    if (at !== -1) this.#listeners.splice(at, 1);
  }

  /** Tells all who listen; what is aborted already stays as it is. */
  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) listener();
  }
}
