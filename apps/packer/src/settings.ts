import {
  databaseUrlSetting,
  drainLimitSetting,
  integerSetting,
  logLevelSetting,
  metricsHostSetting,
  metricsPortSetting,
  networksFileSetting,
  objectStoreSetting,
  redisUrlSetting,
  s3EndpointSetting,
  signingKeyFileSetting,
} from '@packhouse/runtime';
import { z } from 'zod';

/** The environment of a packer. */
export const packerSettings = z.object({
  DATABASE_URL: databaseUrlSetting(),
  REDIS_URL: redisUrlSetting('for the queues; without it they live in Postgres'),
  NETWORKS_FILE: networksFileSetting(),
  OBJECT_STORE: objectStoreSetting(),
  S3_ENDPOINT: s3EndpointSetting(),
  SIGNING_KEY_FILE: signingKeyFileSetting(),
  PACK_CONCURRENCY: integerSetting('kinds packed at a time, 1 to 64 (default 3)', 1, 64).default(3),
  METRICS_PORT: metricsPortSetting(),
  METRICS_HOST: metricsHostSetting(),
  DRAIN_LIMIT_MS: drainLimitSetting(),
  LOG_LEVEL: logLevelSetting(),
});
