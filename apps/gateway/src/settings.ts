import { nftSettings } from '@packhouse/nft';
import {
  bytesSetting,
  databaseUrlSetting,
  drainLimitSetting,
  integerSetting,
  logLevelSetting,
  metricsHostSetting,
  metricsPortSetting,
  s3EndpointSetting,
  trustProxySetting,
} from '@packhouse/runtime';
import { z } from 'zod';
import { LOGGED_REQUESTS } from './http/request-log.js';

/** The environment of a gateway. */
export const gatewaySettings = z.object({
  DATABASE_URL: databaseUrlSetting(),
  REDIS_URL: z
    .string()
    .regex(/^rediss?:\/\//)
    .optional()
    .describe(
      'a Redis address for counting requests, filters, the newest block and answers about final blocks, e.g. redis://host:6379; without it each gateway counts and remembers for itself, and filters and the newest block live in Postgres',
    ),
  NETWORKS_FILE: z.string().describe('the path of the networks file, e.g. ./networks.yaml'),
  OBJECT_STORE: z.string().describe('s3://bucket/prefix or the path of a folder'),
  S3_ENDPOINT: s3EndpointSetting(),
  DOWNLOADS: z
    .enum(['stream', 'redirect'])
    .default('stream')
    .describe(
      'stream, or redirect: whether the gateway passes files on or leads clients to the S3 store, by an address that is good for five minutes (default stream)',
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
      'processes that answer on PORT, 1 to 99 (default 1), or cores: as many as the machine has, if its memory and the networks allow (what packhouse gateway does)',
    ),
  METRICS_PORT: metricsPortSetting(),
  METRICS_HOST: metricsHostSetting(),
  PUBLIC_METRICS: z
    .enum(['open', 'closed'])
    .optional()
    .describe(
      'open, or closed: whether PORT answers /metrics too, which names keys by their prefixes (default: open if HOST is an address of this machine alone, as 127.0.0.1, else closed)',
    ),
  PUBLIC_URL: z
    .url({ protocol: /^https?$/ })
    .transform((url) => url.replace(/\/+$/, ''))
    .optional()
    .describe(
      'the address under which people reach the gateway, e.g. https://data.example.com (default: HOST and PORT)',
    ),
  RANGE_CACHE: bytesSetting('memory for the range index, 8 bytes a bundle (default 128MiB)').default(
    134_217_728,
  ),
  WARM_LIMIT_MS: integerSetting(
    'milliseconds that /readyz waits for the range index to be loaded, newest blocks first, 0 to 600000 (default 20000); 0: it is ready at once',
    0,
    600_000,
  ).default(20_000),
  FILE_CACHE: bytesSetting('memory for files that are being sent (default 64MiB)').default(67_108_864),
  ANSWER_CACHE: bytesSetting('memory for answers about final blocks (default 64MiB)').default(67_108_864),
  ANSWER_MEMORY: bytesSetting(
    'memory for answers that are held whole until they are sent; beyond it calls wait, then get 503 (default 256MiB)',
  ).default(268_435_456),
  BODY_MEMORY: bytesSetting(
    'memory for bodies of requests that are not answered yet; beyond it, and a quarter of it for one key or address, requests get 503 (default 64MiB)',
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
  OPEN_RATE: integerSetting(
    'requests a second from one address to networks that want no key, 1 to 1000000 (default 25)',
    1,
    1_000_000,
  ).default(25),
  USAGE_DAYS: integerSetting(
    'days that the usage of keys is kept, 62 to 4000 (default 400); the last two months are what monthly limits are counted from',
    62,
    4_000,
  ).default(400),
  TRUST_PROXY: trustProxySetting('the gateway'),
  ...nftSettings,
  DRAIN_DELAY_MS: integerSetting(
    'milliseconds between /readyz saying no and requests being refused, 0 to 60000 (default 0), so that a load balancer notices',
    0,
    60_000,
  ).default(0),
  DRAIN_LIMIT_MS: drainLimitSetting(),
  LOG_REQUESTS: z
    .enum(LOGGED_REQUESTS)
    .default('all')
    .describe(
      'all, or refused: which requests have a line in the log at level info (default all); the others have theirs at debug',
    ),
  LOG_LEVEL: logLevelSetting(),
});

/** Whether the port of requests answers /metrics too: if that is set, or if only this machine can reach it. */
export function hasPublicMetrics({ PUBLIC_METRICS: set, HOST: host }: GatewaySettings): boolean {
  if (set !== undefined) return set === 'open';
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
}

type GatewaySettings = Readonly<Pick<z.infer<typeof gatewaySettings>, 'PUBLIC_METRICS' | 'HOST'>>;
