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
  trustProxySetting,
} from '@packhouse/runtime';
import { z } from 'zod';

/** The environment of a console. */
export const consoleSettings = z.object({
  DATABASE_URL: databaseUrlSetting(),
  REDIS_URL: redisUrlSetting('where the queues are; without it Postgres'),
  NETWORKS_FILE: networksFileSetting().optional(),
  OBJECT_STORE: objectStoreSetting().optional(),
  S3_ENDPOINT: s3EndpointSetting(),
  CONSOLE_HOST: z
    .string()
    .default('127.0.0.1')
    .describe('the address that the console listens on, e.g. 0.0.0.0 (default 127.0.0.1)'),
  CONSOLE_PORT: integerSetting(
    'the port of the console, 0 to 65535, 0 for a free one (default 8090)',
    0,
    65_535,
  ).default(8_090),
  CONSOLE_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe(
      'the address that browsers see, e.g. https://packhouse.example.com; needed unless they run on this machine',
    ),
  PUBLIC_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('the address of the gateway, as its own PUBLIC_URL, for the lines that holders of keys copy'),
  TRUST_PROXY: trustProxySetting('the console'),
  METRICS_PORT: metricsPortSetting(),
  METRICS_HOST: metricsHostSetting(),
  DRAIN_LIMIT_MS: drainLimitSetting(),
  LOG_LEVEL: logLevelSetting(),
});
