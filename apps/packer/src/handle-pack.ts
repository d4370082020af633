import type { Database } from '@packhouse/database';
import type { Network } from '@packhouse/networks';
import type { ObjectStore } from '@packhouse/object-store';
import { type LogStore, pack, publish, type SignerSource, type StoreAlarm } from '@packhouse/pipeline';
import type { Job } from '@packhouse/queue';
import {
  type Context,
  describeError,
  isPackhouseError,
  openScope,
  PackhouseError,
  type ProcessMessage,
} from '@packhouse/runtime';

interface HandlePackParts {
  context: Context;
  /** Aborted when a started bundle may no longer be finished. */
  cut: AbortSignal;
  database: Database;
  objectStore: ObjectStore;
  /** Those in force now. */
  networks(): readonly Network[];
  signers: SignerSource;
  logs: LogStore;
  storeAlarm: Pick<StoreAlarm, 'published'>;
  notify(message: ProcessMessage): void;
}

/**
 * Handles one pack job; an error is reported to the supervisor and thrown, so that the job is tried again.
 *
 * While the process drains, a started bundle is finished unless it is aborted, and no other is started.
 */
export async function handlePack(
  { context, cut, database, objectStore, networks, signers, logs, storeAlarm, notify }: HandlePackParts,
  { id, payload, signal }: Job<'pack'>,
): Promise<void> {
  const network = networks().find((each) => each.id === payload.network);
  if (network === undefined) {
    throw new PackhouseError({
      code: 'NETWORK_UNKNOWN',
      message: `Job ${id} is for network "${payload.network}", which this packer's networks file does not have.`,
      hint: 'Give all packers the same networks file.',
    });
  }
  const ending = openScope(signal, context.signal);
  const finishing = openScope(signal, cut);
  let stored = Promise.resolve();
  try {
    await pack(
      {
        context,
        database,
        network,
        publish: async (request, _, turn) => {
          const labels = { 'packhouse.network': network.id, 'packhouse.kind': request.kind };
          const span = context.tracing?.work('publish', labels);
          const publishing = { context, database, objectStore, signers };
          try {
            const row = await publish(publishing, request, finishing.signal, turn);
            if (row === null) return null;
            await storeAlarm.published(network.id);
            // The next row does not wait for it.
            stored = logs.store(network.id, request.kind);
            return row;
          } catch (error) {
            await storeAlarm.published(network.id, error);
            span?.fail(isPackhouseError(error) ? error.code : 'INTERNAL');
            throw error;
          } finally {
            span?.end();
          }
        },
      },
      payload.kind,
      ending.signal,
    );
  } catch (error) {
    if (!context.signal.aborted) {
      notify({
        type: 'problem',
        code: isPackhouseError(error) ? error.code : 'INTERNAL',
        message: describeError(error),
      });
    }
    throw error;
  } finally {
    await stored;
    ending.close();
    finishing.close();
  }
}
