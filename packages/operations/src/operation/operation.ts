import type { Database, OperatorRole } from '@packhouse/database';
import type { Network } from '@packhouse/networks';
import type { LeaseStore } from '@packhouse/node-rpc';
import type { QueueReader } from '@packhouse/queue';
import type { Overview } from '@packhouse/report';
import type { Context } from '@packhouse/runtime';
import { z } from 'zod';

/**
 * Each may also do what those before it may: see and manage the applications that it owns, read, change the work, change
 * operators and plans.
 */
export const ROLES = ['owner', 'viewer', 'operator', 'admin'] as const satisfies OperatorRole[];
export type Role = OperatorRole;

/** What operations work on. */
export interface OperationParts {
  context: Context;
  database: Database;
  /** Without it, or while it is unavailable, the state of the queues is left out. */
  queue?: Pick<QueueReader, 'peek'> | undefined;
  /** The networks file, where this process has it. */
  networks?: (() => readonly Network[]) | undefined;
  /** Where processes share the use of budgets; default: Postgres. */
  leases?: (() => LeaseStore) | undefined;
  /** The public URL of the gateway, without a slash at the end; absent: unknown. */
  gatewayUrl?: string | undefined;
  /** The recent publications, if this process samples them; without it rates are unknown. */
  overview?: Overview | undefined;
  /** For the change log. */
  actor: string;
  /** The role of the actor; absent: he has the credentials of the database, and may do everything. */
  role?: Role | undefined;
  /** The API key that signed in; null or absent: an operator. */
  keyId?: number | null | undefined;
}

/** Something that an operator can read or change. */
export interface Operation<I extends z.ZodObject = z.ZodObject, O = unknown, N extends string = string> {
  /** Its path below `/api/`, e.g. `alarms/clear`. */
  readonly name: N;
  /** A `read` is a GET and changes nothing; a `change` is a POST. */
  readonly kind: 'read' | 'change';
  /** The lowest role; `owner`: also an API key, for itself. */
  readonly role: Role;
  /** Whether accounts of the role owner may run it too: it sees to it that they reach only what is theirs. */
  readonly owners?: true;
  /** For a read that open pages repeat: how long an answer is shared, in milliseconds. */
  readonly sharedForMs?: number;
  /** One sentence. */
  readonly summary: string;
  /** Values of a GET are text: see `fields.ts`. */
  readonly input: I;
  /** The result is sent as JSON, with dates as ISO text. */
  run(parts: OperationParts, input: z.output<I>): Promise<O>;
}

type Given<I extends z.ZodObject, O, N extends string> = Omit<Operation<I, O, N>, 'kind'>;
type NoInput = z.ZodObject<Record<never, never>>;

/** Defines an operation that reads; without `input` it takes none. */
export function read<O, const N extends string, I extends z.ZodObject = NoInput>(
  given: Omit<Given<I, O, N>, 'input'> & { input?: I },
): Operation<I, O, N> {
  return { ...given, input: given.input ?? (z.object({}) as z.ZodObject as I), kind: 'read' };
}

/** Defines an operation that changes something. */
export function change<I extends z.ZodObject, O, const N extends string>(
  given: Given<I, O, N>,
): Operation<I, O, N> {
  return { ...given, kind: 'change' };
}
