import cluster from 'node:cluster';
import { availableParallelism, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { loadNetworks, type Network, type NetworksWatch, watchNetworks } from '@packhouse/networks';
import { createStoreAlarm } from '@packhouse/pipeline';
import { runProcess, startMetrics } from '@packhouse/runtime';
import { connectStores } from './connect-stores.js';
import { createGateway } from './create-gateway.js';
import { toGatewayOptions } from './gateway-options.js';
import { gatewaySettings, hasPublicMetrics } from './settings.js';
import { superviseWorkers } from './workers/supervise-workers.js';
import { countWorkers, toWorkerNetworks } from './workers/worker-count.js';
import { type Channel, createWorkerLink } from './workers/worker-link.js';

/** What calls in flight hold outlives a collection of 16 MB, Node's default, and is copied twice: a third of a batch's CPU. */
const WORKER_FLAGS = ['--max-semi-space-size=32'];

await runProcess(process, {
  name: 'gateway',
  settings: gatewaySettings,
  async start({ settings, context: own, shutdown, notify }) {
    const networks = await loadNetworks(settings.NETWORKS_FILE, process.env);
    const { count, reason } = countWorkers(settings, networks, {
      cores: availableParallelism(),
      memoryBytes: Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY),
    });
    if (cluster.isPrimary && reason !== null) {
      own.logger.info({ workers: count, reason }, 'fewer workers than cores');
    }
    if (cluster.isPrimary && count > 1) {
      // Not the program that began this process, which may be `packhouse`.
      const execArgv = [...process.execArgv, ...WORKER_FLAGS];
      cluster.setupPrimary({ exec: fileURLToPath(import.meta.url), args: [], execArgv });
      const workers = superviseWorkers({
        context: own,
        cluster,
        count,
        notify,
        exit: (exitCode) => process.exit(exitCode),
      });
      shutdown.add('workers', () => workers.close());
      const context = { ...own, metrics: { ...own.metrics, render: workers.render } };
      await startMetrics({ context, shutdown, notify }, settings);
      await workers.ready;
      return;
    }
    const link = cluster.isWorker ? createWorkerLink(process as Channel, own) : undefined;
    const context =
      link === undefined ? own : { ...own, metrics: { ...own.metrics, render: () => link.render() } };
    await startMetrics({ context, shutdown, notify }, settings);
    const publicMetrics = hasPublicMetrics(settings);
    if (!publicMetrics && settings.METRICS_PORT === 0 && link === undefined) {
      context.logger.warn('metrics are not served: set METRICS_PORT, because /metrics on PORT is closed');
    }
    const stores = await connectStores({ settings, context, shutdown, link });
    let watch: NetworksWatch | undefined;
    let served: readonly Network[] = networks;
    const gateway = await createGateway({
      ...toGatewayOptions(settings, count),
      ...stores,
      context,
      networks: toWorkerNetworks(networks, count),
      publicMetrics,
      networksFileOk: () => (watch?.problem() ?? null) === null,
    });
    shutdown.add('gateway', () => gateway.close({ delayMs: settings.DRAIN_DELAY_MS, cut: shutdown.cut }));
    watch = watchNetworks({
      path: settings.NETWORKS_FILE,
      env: process.env,
      context,
      networks,
      apply: async (changed) => {
        await gateway.replaceNetworks(toWorkerNetworks(changed, count));
        served = changed;
      },
    });
    shutdown.add('networks file', () => watch?.close());
    const port = await gateway.listen(settings.PORT, settings.HOST);
    context.logger.info({ host: settings.HOST, port }, 'listening');
    notify({ type: 'listening', port });
    const storeAlarm = createStoreAlarm({
      context,
      database: stores.database,
      objectStore: stores.objectStore,
      role: 'gateway',
      networks: () => served.filter(({ bundles }) => bundles.enabled).map(({ id }) => id),
    });
    const watchingStore = storeAlarm.watch();
    shutdown.add('object store probes', () => watchingStore);
    await gateway.warmed;
  },
});
