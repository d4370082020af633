import { type ErrorCode, PackhouseError } from '@packhouse/runtime';

/** Throws the error: what happened, and what to do. */
export function fail(code: ErrorCode, message: string, hint?: string): never {
  throw new PackhouseError({ code, message, hint });
}
