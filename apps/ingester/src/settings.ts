import {
  bytesSetting,
  databaseUrlSetting,
  integerSetting,
  logLevelSetting,
  networksFileSetting,
  redisUrlSetting,
} from '@packhouse/runtime';
import { z } from 'zod';

/** The environment of an ingester. */
export const ingesterSettings = z.object({
  DATABASE_URL: databaseUrlSetting(),
  REDIS_URL: redisUrlSetting('for the queues; without it they live in Postgres'),
  NETWORKS_FILE: networksFileSetting(),
  INGEST_CONCURRENCY: integerSetting('windows extracted at a time, 1 to 64 (default 3)', 1, 64).default(3),
  NODE_MAX_BODY: bytesSetting(
    'the largest node answer that is held in memory, e.g. 64MiB (the default); larger ones are streamed',
  ).default(67_108_864),
  NODE_TIMEOUT_MS: integerSetting(
    'milliseconds to wait for a node, 100 to 600000 (default 30000)',
    100,
    600_000,
  ).default(30_000),
  METRICS_PORT: integerSetting(
    'the port of /metrics and /healthz, 0 for none (the default)',
    0,
    65_535,
  ).default(0),
  LOG_LEVEL: logLevelSetting(),
});
