import { nftSettings } from '@packhouse/nft';
import {
  bytesSetting,
  integerSetting,
  networksFileSetting,
  processSettings,
  redisUrlSetting,
  storeSettings,
  trustProxySetting,
  webSetting,
} from '@packhouse/runtime';
import { z } from 'zod';
import { LOGGED_REQUESTS } from './http/request-log.js';
import { isLoopback } from './http/told-address.js';

/** The environment of a gateway. */
export const gatewaySettings = processSettings.extend({
  REDIS_URL: redisUrlSetting(
    'for counting requests, filters, the newest block and cached answers; without it each gateway counts and caches for itself, and filters and the newest block are in Postgres',
  ),
  NETWORKS_FILE: networksFileSetting(),
  ...storeSettings,
  DOWNLOADS: z
    .enum(['stream', 'redirect'])
    .default('stream')
    .describe(
      'stream, or redirect: whether the gateway sends files itself or redirects clients to the S3 store, by an address that is valid for five minutes (default stream)',
    ),
  S3_PUBLIC_ENDPOINT: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe(
      'the address of the S3 store for clients, for DOWNLOADS=redirect, e.g. https://s3.example.com (default: S3_ENDPOINT)',
    ),
  HOST: z
    .string()
    .default('0.0.0.0')
    .describe('the address to listen on, e.g. 127.0.0.1 (default 0.0.0.0, every address of this machine)'),
  PORT: integerSetting('the port to listen on, 0 for any that is free (default 8080)', 0, 65_535).default(
    8_080,
  ),
  GATEWAY_WORKERS: z
    .string()
    .regex(/^(cores|[1-9]\d?)$/)
    .transform((text) => (text === 'cores' ? text : Number(text)))
    .default(1)
    .describe(
      'worker processes on PORT, 1 to 99 (default 1), or cores: one per core if memory and the networks allow it, as packhouse gateway does',
    ),
  PUBLIC_METRICS: z
    .enum(['open', 'closed'])
    .optional()
    .describe(
      'open, or closed: whether PORT also serves /metrics, which has prefixes of keys (default: open if HOST is a loopback address such as 127.0.0.1, otherwise closed)',
    ),
  PUBLIC_URL: webSetting(
    'the public address of the gateway, e.g. https://data.example.com (default: HOST and PORT)',
  ),
  RANGE_CACHE: bytesSetting('memory for the range index, 8 bytes per bundle (default 128MiB)').default(
    134_217_728,
  ),
  WARM_LIMIT_MS: integerSetting(
    'milliseconds that /readyz waits for the range index to load, newest blocks first, 0 to 600000 (default 20000); 0: ready at once',
    0,
    600_000,
  ).default(20_000),
  FILE_CACHE: bytesSetting('memory for files that are being sent (default 64MiB)').default(67_108_864),
  ANSWER_CACHE: bytesSetting('memory for answers about final blocks (default 64MiB)').default(67_108_864),
  ANSWER_MEMORY: bytesSetting(
    'memory for answers that are buffered whole; if it is full, calls wait, then get 503 (default 256MiB)',
  ).default(268_435_456),
  BODY_MEMORY: bytesSetting(
    'memory for request bodies; if it is full, or a quarter of it for one key or address, requests get 503 (default 64MiB)',
  ).default(67_108_864),
  MAX_BODY: bytesSetting('the largest body of a JSON-RPC request with a key (default 1MiB)').default(
    1_048_576,
  ),
  OPEN_MAX_BODY: bytesSetting('the largest body of a JSON-RPC request without a key (default 64KiB)').default(
    65_536,
  ),
  CONNECTIONS_PER_ADDRESS: integerSetting(
    'connections from one address, 1 to 10000 (default 1000); those of trusted proxies (TRUST_PROXY) are not counted',
    1,
    10_000,
  ).default(1_000),
  BATCH_CALLS: integerSetting('calls in a JSON-RPC batch, 1 to 10000 (default 1000)', 1, 10_000).default(
    1_000,
  ),
  FEEDS_PER_KEY: integerSetting(
    'feeds that a key may have open, 1 to 10000 (default 1000); beyond it 429',
    1,
    10_000,
  ).default(1_000),
  OPEN_RATE: integerSetting(
    'requests per second from one address to networks that need no key, 1 to 1000000 (default 25)',
    1,
    1_000_000,
  ).default(25),
  USAGE_DAYS: integerSetting(
    'days that the usage of keys is kept, 62 to 4000 (default 400); monthly limits need the last two months',
    62,
    4_000,
  ).default(400),
  TRUST_PROXY: trustProxySetting('the gateway'),
  ...nftSettings,
  DRAIN_DELAY_MS: integerSetting(
    'milliseconds from failing /readyz to refusing requests, 0 to 60000 (default 0), so that a load balancer notices',
    0,
    60_000,
  ).default(0),
  LOG_REQUESTS: z
    .enum(LOGGED_REQUESTS)
    .default('all')
    .describe(
      'all, or refused: which requests are logged at level info (default all); the others are logged at debug',
    ),
});

/** Whether the port of requests answers /metrics too: if that is set, or if only this machine can reach it. */
export function hasPublicMetrics({
  PUBLIC_METRICS: set,
  HOST: host,
}: Pick<GatewaySettings, 'PUBLIC_METRICS' | 'HOST'>): boolean {
  if (set !== undefined) return set === 'open';
  return isLoopback(host);
}

export type GatewaySettings = Readonly<z.infer<typeof gatewaySettings>>;
