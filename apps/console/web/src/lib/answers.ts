import type { OPERATIONS } from '@packhouse/operations';

type Operations = { [O in (typeof OPERATIONS)[number] as O['name']]: O };
export type OperationName = keyof Operations;

/** A value after its way through JSON: dates are ISO text. */
type Json<T> = T extends Date ? string : T extends object ? { [K in keyof T]: Json<T[K]> } : T;

/** The answer of an operation. */
export type Answer<N extends OperationName> = Json<Awaited<ReturnType<Operations[N]['run']>>>;

/** The fields of an operation's input; the console checks their values. */
export type Input<N extends OperationName> = {
  readonly [K in keyof Operations[N]['input']['shape']]?: unknown;
};
