import { type ErrorCode, PackhouseError } from '@packhouse/runtime';
import type { NodeLabel } from './node-label.js';

/**
 * What helps against a fault:
 * `here` the same again, after a pause; `elsewhere` another upstream; `shrink` fewer calls in a request;
 * `give-up` nothing: the answer itself is the trouble.
 */
export type FaultAction = 'here' | 'elsewhere' | 'shrink' | 'give-up';

/** A call that did not give its answer: never thrown inside this package, always handed on as a value. */
export interface Fault {
  error: PackhouseError;
  /** What happened, the middle of the error's sentence. */
  happened: string;
  action: FaultAction;
  /** The upstream itself is in trouble, not only this call. */
  weighs: boolean;
  /** The parameters were refused: another form of the method may do. */
  refusesParams: boolean;
  /** What the upstream asked to wait, in milliseconds. */
  retryAfterMs?: number;
}

/** What was asked, for the sentence of the error. */
export interface Asked {
  label: NodeLabel;
  /** `eth_getBlockByNumber for block 17`, `a batch of 16 trace_block for blocks 1 to 16`. */
  what: string;
  block?: number | undefined;
}

/** Makes a fault; `what happened` completes the sentence "Node main (https://host) …". */
export function makeFault(
  asked: Asked,
  code: ErrorCode,
  happened: string,
  action: FaultAction,
  more: {
    hint?: string | undefined;
    cause?: unknown;
    weighs?: boolean;
    refusesParams?: boolean;
    retryAfterMs?: number | undefined;
    data?: Record<string, unknown>;
  } = {},
): Fault {
  return {
    error: new PackhouseError({
      code,
      message: `Node ${asked.label.text} ${happened} when asked ${asked.what}.`,
      hint: more.hint,
      data: {
        upstream: asked.label.name,
        ...(asked.block === undefined ? {} : { block: asked.block }),
        ...more.data,
      },
      cause: more.cause,
    }),
    happened,
    action,
    weighs: more.weighs ?? false,
    refusesParams: more.refusesParams ?? false,
    ...(more.retryAfterMs === undefined ? {} : { retryAfterMs: more.retryAfterMs }),
  };
}
