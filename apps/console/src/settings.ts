import {
  integerSetting,
  networksFileSetting,
  objectStoreSetting,
  processSettings,
  redisUrlSetting,
  s3ChecksumsSetting,
  s3EndpointSetting,
  trustProxySetting,
} from '@packhouse/runtime';
import { z } from 'zod';

/** The environment of a console. */
export const consoleSettings = processSettings.extend({
  REDIS_URL: redisUrlSetting('the Redis of the queues; default: Postgres'),
  NETWORKS_FILE: networksFileSetting().optional(),
  OBJECT_STORE: objectStoreSetting().optional(),
  S3_ENDPOINT: s3EndpointSetting(),
  S3_CHECKSUMS: s3ChecksumsSetting(),
  CONSOLE_HOST: z
    .string()
    .default('127.0.0.1')
    .describe('the address to listen on, e.g. 0.0.0.0 (default 127.0.0.1)'),
  CONSOLE_PORT: integerSetting(
    'the port of the console, 0 to 65535, 0 for a free one (default 8090)',
    0,
    65_535,
  ).default(8_090),
  CONSOLE_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe(
      'the public URL, e.g. https://packhouse.example.com; required unless browsers run on this machine',
    ),
  PUBLIC_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('the PUBLIC_URL of the gateway, for the examples of API keys'),
  TRUST_PROXY: trustProxySetting('the console'),
});
