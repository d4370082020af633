import type { Database } from '@packhouse/database';
import { type ObjectStore, probeStore } from '@packhouse/object-store';
import {
  type Context,
  type ErrorCode,
  isPackhouseError,
  type PackhouseError,
  repeat,
} from '@packhouse/runtime';
import type { AlarmName } from '../alarm-names.js';

/** The alarm of a network whose object store refuses what a process asks: the secret, the bucket or a right is wrong. */
const ALARM: AlarmName & ErrorCode = 'OBJECT_STORE_INVALID';

/** Time between two probes of the store, in milliseconds. */
const PROBE_EVERY_MS = 30_000;

/** What the store was asked to do. */
type Deed = 'put' | 'get';

export type StoreAlarm = ReturnType<typeof createStoreAlarm>;

/**
 * Keeps the alarm: raised by a refusal of the store, when something is published or at a probe, and cleared when the same
 * works again. A store that cannot be reached raises none: that is tried again by itself. Packers and gateways have
 * credentials of their own, so neither clears what the other raised.
 */
export function createStoreAlarm(parts: {
  context: Context;
  database: Pick<Database, 'network'>;
  objectStore: ObjectStore;
  role: 'packer' | 'gateway';
  /** Ids of the networks that are packed or served now. */
  networks(): readonly string[];
}) {
  const { context, database, objectStore, role } = parts;
  /** What was refused last; null: nothing. An absent network may have the alarm of an earlier process. */
  const refused = new Map<string, Deed | null>();

  const raise = async (network: string, deed: Deed, error: PackhouseError): Promise<void> => {
    refused.set(network, deed);
    const { name, status } = error.data as { name?: string; status?: number };
    const refusal = deed === 'put' ? `takes no bundles from a ${role}` : `serves no bundles to a ${role}`;
    const got = name === undefined ? error.message : `${[name, status].filter(Boolean).join(', status ')}.`;
    const { isNew } = await database.network(network).alarms.raise({
      name: ALARM,
      message: `${objectStore.description} ${refusal}: ${got}${error.hint === undefined ? '' : ` ${error.hint}`}`,
      data: { role, store: objectStore.description, reason: name ?? null, status: status ?? null },
    });
    if (isNew) context.logger.error({ network, alarm: ALARM, err: error }, 'ALARM: the object store refuses');
  };

  const clear = async (network: string, deed: Deed): Promise<void> => {
    const last = refused.get(network);
    // A store that serves objects may still take none.
    if (last === null || (last === 'put' && deed === 'get')) return;
    const { alarms } = database.network(network);
    const open = (await alarms.list()).find(({ name }) => name === ALARM);
    if (open?.data.role === role) await alarms.clear(ALARM, 'itself');
    refused.set(network, null);
  };

  /** What is wrong with the alarm itself must not hide what the work is about. */
  const settle = async (network: string, deed: Deed, error: unknown): Promise<void> => {
    try {
      if (isPackhouseError(error, ALARM)) await raise(network, deed, error);
      else if (error === undefined) await clear(network, deed);
    } catch (cause) {
      context.logger.warn({ network, err: cause }, 'failed to write the alarm about the object store');
    }
  };

  return {
    /** Notes how a publication ended: `error` is what it threw, undefined if it worked. */
    published: (network: string, error?: unknown): Promise<void> => settle(network, 'put', error),
    /** Probes the store until the context is aborted, whether or not there is something to publish. */
    watch: (): Promise<void> =>
      repeat(context, { everyMs: PROBE_EVERY_MS, failed: 'the object store was not probed' }, async () => {
        const error: unknown = await probeStore(objectStore, context.signal).catch((cause: unknown) => cause);
        for (const network of parts.networks()) await settle(network, 'get', error);
      }),
  };
}
