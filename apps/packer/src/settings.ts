import {
  databaseUrlSetting,
  integerSetting,
  logLevelSetting,
  networksFileSetting,
  objectStoreSetting,
  redisUrlSetting,
  s3EndpointSetting,
} from '@packhouse/runtime';
import { z } from 'zod';

/** The environment of a packer. */
export const packerSettings = z.object({
  DATABASE_URL: databaseUrlSetting(),
  REDIS_URL: redisUrlSetting('for the queues; without it they live in Postgres'),
  NETWORKS_FILE: networksFileSetting(),
  OBJECT_STORE: objectStoreSetting(),
  S3_ENDPOINT: s3EndpointSetting(),
  PACK_CONCURRENCY: integerSetting('kinds packed at a time, 1 to 64 (default 3)', 1, 64).default(3),
  METRICS_PORT: integerSetting(
    'the port of /metrics and /healthz, 0 for none (the default)',
    0,
    65_535,
  ).default(0),
  LOG_LEVEL: logLevelSetting(),
});
