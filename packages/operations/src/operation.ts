import type { Database, OperatorRole } from '@packhouse/database';
import type { Network } from '@packhouse/networks';
import type { LeaseStore } from '@packhouse/node-rpc';
import type { Overview } from '@packhouse/pipeline';
import type { QueueReader } from '@packhouse/queue';
import type { Context } from '@packhouse/runtime';
import type { z } from 'zod';

/** Who may do what, each one also what those before it may: look, change the work, change who may. */
export const ROLES = ['viewer', 'operator', 'admin'] as const satisfies OperatorRole[];
export type Role = OperatorRole;

/** What operations work on. */
export interface OperationParts {
  context: Context;
  database: Database;
  /** Without it, or while it is away, what the queues would tell is left out. */
  queue?: Pick<QueueReader, 'look'> | undefined;
  /** The networks file, where this process has it. */
  networks?: (() => readonly Network[]) | undefined;
  /** Where processes share what was taken of budgets; without it Postgres. */
  leases?: (() => LeaseStore) | undefined;
  /** Where people reach the gateway, without a slash at the end; absent: unknown. */
  gatewayUrl?: string | undefined;
  /** What was published of late, where this process keeps looking; without it rates are unknown. */
  overview?: Overview | undefined;
  /** Who asks, for the log of actions. */
  who: string;
  /** The id of the API key that its holder signed in with; null or absent: an operator asks. */
  keyId?: number | null | undefined;
}

/** One thing that an operator can look at or change. */
export interface Operation<I extends z.ZodObject = z.ZodObject, O = unknown> {
  /** Its path below `/api/`, e.g. `alarms/clear`. */
  readonly name: string;
  /** A `read` is a GET and changes nothing; a `change` is a POST. */
  readonly kind: 'read' | 'change';
  /** The least role; `owner`: also the holder of an API key, of that key alone. */
  readonly role: Role | 'owner';
  /** Of a read that many open pages repeat: how long one answer serves all who ask alike, in milliseconds. */
  readonly sharedForMs?: number;
  /** One sentence. */
  readonly summary: string;
  /** Values of a GET are text: see `fields.ts`. */
  readonly input: I;
  /** Throws PackhouseError only, as far as it knows. The result is JSON once written; dates become ISO text. */
  run(parts: OperationParts, input: z.output<I>): Promise<O>;
}

/** Defines an operation; the types of input and result are inferred. */
export function operation<I extends z.ZodObject, O>(given: Operation<I, O>): Operation<I, O> {
  return given;
}
