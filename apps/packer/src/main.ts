import { fileURLToPath } from 'node:url';
import { lakeLoop } from '@packhouse/lake';
import { loadNetworks } from '@packhouse/networks';
import { openObjectStore } from '@packhouse/object-store';
import {
  connectDatabase,
  connectQueues,
  createLogStore,
  createStoreAlarm,
  followNetworksFile,
  openSigners,
  takeJobs,
} from '@packhouse/pipeline';
import { historyLoop } from '@packhouse/report';
import { runProcess, startMetrics } from '@packhouse/runtime';
import { createDiskGauge } from './disk-gauge.js';
import { handlePack } from './handle-pack.js';
import { reclaimLoop } from './reclaimer.js';
import { runSchedule } from './run-schedule.js';
import { createSampledAudit, SAMPLED_AUDIT } from './sampled-audit.js';
import { scheduleLoop } from './schedule-loop.js';
import { sealLoop } from './seal-loop.js';
import { packerSettings } from './settings.js';
import { startHooks } from './start-hooks.js';
import { startNotifications } from './start-notifications.js';

/** The command line, at the same distance from `src` and from `dist`. */
const CLI = fileURLToPath(new URL('../../cli/bin/packhouse.js', import.meta.url));
/** Runs of schedules that a packer has at a time, each a process of its own. */
const SCHEDULES_AT_A_TIME = 4;

await runProcess(process, {
  name: 'packer',
  settings: packerSettings,
  async start(starting) {
    const { settings, context, shutdown, notify } = starting;
    let inForce = await loadNetworks(settings.NETWORKS_FILE, process.env);
    const networks = () => inForce;
    await startMetrics(starting, settings);
    const database = await connectDatabase(starting, { applicationName: 'packhouse packer' });
    const signers = await openSigners({ context, database, file: settings.SIGNING_KEY_FILE });
    const objectStore = await openObjectStore(settings.OBJECT_STORE, {
      endpoint: settings.S3_ENDPOINT,
      checksums: settings.S3_CHECKSUMS,
    });
    shutdown.add('object store', () => objectStore.close());
    const logs = createLogStore({ context, database, objectStore });
    createDiskGauge(context, settings.OBJECT_STORE);
    const queues = await connectQueues(starting);
    const packed = () => inForce.filter(({ bundles }) => bundles.enabled).map(({ id }) => id);
    const storeAlarm = createStoreAlarm({ context, database, objectStore, role: 'packer', networks: packed });
    const parts = {
      context,
      cut: shutdown.cut,
      database,
      objectStore,
      networks,
      signers,
      logs,
      storeAlarm,
      notify,
    };
    const file = followNetworksFile(starting, process.env, database, {
      inForce,
      replace: (changed) => {
        inForce = [...changed];
      },
    });
    const jobs = await takeJobs({
      context,
      database,
      queues,
      queue: 'pack',
      role: 'packer',
      pid: process.pid,
      file,
      networks: packed,
      concurrency: settings.PACK_CONCURRENCY,
      sendsMail: settings.SMTP_URL !== undefined,
      handler: (job) => handlePack(parts, job),
    });
    shutdown.add('pack jobs', () => jobs.close());
    const watching = storeAlarm.watch();
    shutdown.add('object store probes', () => watching);
    for (const [name, loop] of Object.entries({
      reclaiming: reclaimLoop(context, database, networks),
      sealing: sealLoop(parts),
      lake: settings.LAKE === 'on' ? lakeLoop(parts) : Promise.resolve(),
      history: historyLoop({ context, database, queues }),
    })) {
      shutdown.add(name, () => loop);
    }
    const endHooks = await startHooks({ context, database, objectStore, queues, networks, settings });
    shutdown.add('webhooks', endHooks);
    const notifying = await startNotifications({ context, database, settings });
    shutdown.add('notifications', notifying);
    const audit = createSampledAudit({
      context,
      database,
      objectStore,
      networks,
      share: settings.AUDIT_SAMPLE,
      everyMs: settings.AUDIT_EVERY,
      bytesPerSecond: settings.AUDIT_BYTES_PER_SECOND,
    });
    const running = { context, cut: shutdown.cut, database, cli: CLI, env: process.env };
    const runs = await queues.work(
      'schedule',
      (job) => runSchedule({ ...running, builtIn: { [SAMPLED_AUDIT]: audit.run } }, job),
      { concurrency: SCHEDULES_AT_A_TIME },
    );
    shutdown.add('runs of schedules', () => runs.close());
    const scheduling = scheduleLoop({
      context,
      database,
      queues,
      ofSettings: { AUDIT_EVERY: audit.schedules },
      checked: audit.report,
    });
    shutdown.add('scheduling', () => scheduling);
  },
});
