import { createDatabase } from '@packhouse/database';
import { loadNetworks } from '@packhouse/networks';
import { openObjectStore } from '@packhouse/object-store';
import { pack, publish } from '@packhouse/pipeline';
import { createQueues } from '@packhouse/queue';
import {
  describeError,
  isPackhouseError,
  PackhouseError,
  runProcess,
  serveMetrics,
} from '@packhouse/runtime';
import { reclaimLoop } from './reclaimer.js';
import { packerSettings } from './settings.js';

/** Kinds packed at a time where PACK_CONCURRENCY does not say. */
const CONCURRENCY = 3;

await runProcess(process, {
  name: 'packer',
  settings: packerSettings,
  async start({ settings, context, shutdown, notify }) {
    const networks = await loadNetworks(settings.NETWORKS_FILE, process.env);
    const database = createDatabase({
      connectionString: settings.DATABASE_URL,
      context,
      applicationName: 'packhouse packer',
    });
    shutdown.add('database', () => database.close());
    await database.checkSchema();
    const objectStore = await openObjectStore(settings.OBJECT_STORE);
    shutdown.add('object store', () => objectStore.close());
    const queues = await createQueues({
      redisUrl: settings.REDIS_URL,
      databaseUrl: settings.DATABASE_URL,
      context,
    });
    shutdown.add('queues', () => queues.close());

    const jobs = await queues.work(
      'pack',
      async ({ id, payload, signal }) => {
        const network = networks.find((each) => each.id === payload.network);
        if (network === undefined) {
          throw new PackhouseError({
            code: 'NETWORK_UNKNOWN',
            message: `Job ${id} is for network "${payload.network}", which ${settings.NETWORKS_FILE} does not have.`,
            hint: 'Give all packers the same networks file.',
          });
        }
        const parts = { context, database, objectStore, network };
        try {
          await pack(
            { ...parts, publish: (request, stop) => publish(parts, request, stop) },
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
      },
      { concurrency: settings.PACK_CONCURRENCY ?? CONCURRENCY },
    );
    shutdown.add('pack jobs', () => jobs.close());
    const reclaiming = reclaimLoop(
      context,
      database,
      networks.map((network) => network.id),
    );
    shutdown.add('reclaiming', () => reclaiming);
    if (settings.METRICS_PORT) {
      const server = await serveMetrics(context.metrics, settings.METRICS_PORT);
      shutdown.add('metrics', () => server.close());
    }
  },
});
