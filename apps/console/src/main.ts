import type { AddressInfo } from 'node:net';
import { loadNetworks } from '@packhouse/networks';
import { createRedisLeases } from '@packhouse/node-rpc';
import { openObjectStore } from '@packhouse/object-store';
import { connectDatabase } from '@packhouse/pipeline';
import { createQueueReader, openQueuesForBoard } from '@packhouse/queue';
import { PackhouseError, runProcess, startMetrics } from '@packhouse/runtime';
import { createConsole } from './create-console.js';
import { toOidcOptions } from './oidc-settings.js';
import { consoleSettings } from './settings.js';

await runProcess(process, {
  name: 'console',
  settings: consoleSettings,
  async start(starting) {
    const { settings, context, shutdown, notify } = starting;
    const { CONSOLE_HOST: host, CONSOLE_PORT: port, NETWORKS_FILE: file } = settings;
    const networks = file === undefined ? undefined : await loadNetworks(file, process.env);
    await startMetrics(starting, settings);
    const database = await connectDatabase(starting, { poolSize: 4, applicationName: 'packhouse console' });
    const queues = { context, redisUrl: settings.REDIS_URL, databaseUrl: settings.DATABASE_URL };
    const queue = createQueueReader(queues);
    shutdown.add('queues', () => queue.close());
    const redis = settings.REDIS_URL === undefined ? undefined : createRedisLeases(settings.REDIS_URL);
    shutdown.add('budgets', async () => redis?.close());
    const objectStore =
      settings.OBJECT_STORE === undefined
        ? undefined
        : await openObjectStore(settings.OBJECT_STORE, {
            endpoint: settings.S3_ENDPOINT,
            checksums: settings.S3_CHECKSUMS,
          });
    if (objectStore !== undefined) shutdown.add('object store', () => objectStore.close());
    const app = await createConsole({
      context,
      database,
      queue,
      objectStore,
      host,
      url: settings.CONSOLE_URL,
      trustProxy: settings.TRUST_PROXY,
      oidc: toOidcOptions(settings),
      passwords: settings.PASSWORD_SIGN_IN === 'on',
      openJobs: () => openQueuesForBoard(queues),
      networks: networks === undefined ? undefined : () => networks,
      leases: redis === undefined ? undefined : () => redis,
      gatewayUrl: settings.PUBLIC_URL,
    });
    shutdown.add('server', () => app.close());
    await app.listen({ host, port }).catch((error: unknown) => {
      if ((error as { code?: string }).code !== 'EADDRINUSE') throw error;
      throw new PackhouseError({
        code: 'PORT_IN_USE',
        message: `Port ${port} of ${host} (CONSOLE_PORT) is in use.`,
        hint: 'Set CONSOLE_PORT to another port, or to 0 for a free one.',
        cause: error,
      });
    });
    const address = app.server.address() as AddressInfo;
    context.logger.info({ host, port: address.port }, 'serving the console');
    notify({ type: 'listening', port: address.port });
  },
});
