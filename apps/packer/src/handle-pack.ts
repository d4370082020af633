import type { Database } from '@packhouse/database';
import type { Network } from '@packhouse/networks';
import type { ObjectStore } from '@packhouse/object-store';
import { pack, publish } from '@packhouse/pipeline';
import type { Job } from '@packhouse/queue';
import {
  type Context,
  describeError,
  isPackhouseError,
  PackhouseError,
  type ProcessMessage,
} from '@packhouse/runtime';

export interface HandlePackParts {
  context: Context;
  database: Database;
  objectStore: ObjectStore;
  networks: readonly Network[];
  notify(message: ProcessMessage): void;
}

/** Handles one pack job; what goes wrong is told to the supervisor and thrown, so that the job is tried again. */
export async function handlePack(
  { context, database, objectStore, networks, notify }: HandlePackParts,
  { id, payload, signal }: Job<'pack'>,
): Promise<void> {
  const network = networks.find((each) => each.id === payload.network);
  if (network === undefined) {
    throw new PackhouseError({
      code: 'NETWORK_UNKNOWN',
      message: `Job ${id} is for network "${payload.network}", which this packer's networks file does not have.`,
      hint: 'Give all packers the same networks file.',
    });
  }
  try {
    await pack(
      {
        context,
        database,
        network,
        publish: (request, stop) => publish({ context, database, objectStore }, request, stop),
      },
      payload.kind,
      AbortSignal.any([signal, context.signal]),
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
  }
}
