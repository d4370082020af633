import { z } from 'zod';
import { isAddressRange } from './addresses.js';
import { isRedisAddress } from './redis-address.js';
import { integerSetting, logLevelSetting } from './settings.js';

/** DATABASE_URL; `or` continues the description. */
export const databaseUrlSetting = (or = ''): z.ZodString =>
  z
    .string()
    .regex(/^postgres(ql)?:\/\//)
    .describe(`a Postgres address, e.g. postgres://user:password@host:5432/packhouse${or}`);

/** REDIS_URL; `use` describes its purpose, and what happens without it. */
export const redisUrlSetting = (use: string): z.ZodOptional<z.ZodString> =>
  z
    .string()
    .refine(isRedisAddress)
    .optional()
    .describe(
      `a Redis address, e.g. redis://host:6379 or redis+sentinel://host:26379,host:26379/master, ${use}`,
    );

/** NETWORKS_FILE. */
export const networksFileSetting = (): z.ZodString =>
  z.string().describe('the path of the networks file, e.g. ./networks.yaml');

/** An address with http or https, without slashes at its end. */
export const webSetting = (description: string) =>
  z
    .url({ protocol: /^https?$/ })
    .transform((url) => url.replace(/\/+$/, ''))
    .optional()
    .describe(description);

/** The object store. */
export const storeSettings = {
  OBJECT_STORE: z.string().describe('s3://bucket/prefix or the path of a folder'),
  S3_ENDPOINT: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe("an S3 store's address other than Amazon's, e.g. http://localhost:9000"),
  S3_CHECKSUMS: z
    .enum(['auto', 'sha256', 'md5'])
    .default('auto')
    .describe('auto, sha256 or md5: the checksum that is sent with an object to S3 (default auto)'),
};

/** What every process of the database reads. */
export const processSettings = z.object({
  DATABASE_URL: databaseUrlSetting(),
  // A port, `any` for a free one (reported to the supervisor), 0 for none.
  METRICS_PORT: z
    .string()
    .regex(/^(any|\d+)$/)
    .transform((text) => (text === 'any' ? text : Number(text)))
    .refine((port) => port === 'any' || port <= 65_535)
    .default(0)
    .describe('the port of /metrics and /healthz, any for one that is free, 0 for none (the default)'),
  METRICS_HOST: z
    .string()
    .default('0.0.0.0')
    .describe('the address that /metrics listens on, e.g. 127.0.0.1 (default 0.0.0.0)'),
  DRAIN_LIMIT_MS: integerSetting(
    'milliseconds that draining may take, 100 to 600000 (default 25000); keep it below what the orchestrator waits',
    100,
    600_000,
  ).default(25_000),
  LOG_LEVEL: logLevelSetting(),
});

/** What every process that takes jobs reads. */
export const workerSettings = processSettings.extend({
  REDIS_URL: redisUrlSetting('for the queues; without it they live in Postgres'),
  NETWORKS_FILE: networksFileSetting(),
  JOB_LOCK_MS: integerSetting(
    'milliseconds that a job stays with a process that was killed, 1000 to 600000 (default 12000); a process that stands still for longer loses its jobs',
    1_000,
    600_000,
  ).default(12_000),
});

/** SIGNING_KEY_FILE. */
export const signingKeyFileSetting = (): z.ZodDefault<z.ZodString> =>
  z
    .string()
    .default('./signing-key.pem')
    .describe(
      'the PEM file of the key that the manifest is signed with; the first packer makes it (default ./signing-key.pem)',
    );

/** Names of ranges of addresses, as proxy-addr has them. */
const NAMED_RANGES: readonly string[] = ['loopback', 'linklocal', 'uniquelocal'];
const isProxy = (text: string): boolean => NAMED_RANGES.includes(text) || isAddressRange(text);

/**
 * TRUST_PROXY: the proxies whose `X-Forwarded-For` is trusted, as their number or as their addresses and ranges.
 * If absent, the client's address is that of the connection.
 */
export function trustProxySetting(
  what: string,
): z.ZodType<number | string[] | undefined, string | undefined> {
  return z
    .string()
    .transform((text) => (/^\d+$/.test(text) ? Number(text) : text.split(',').map((part) => part.trim())))
    .refine((value) => (typeof value === 'number' ? value >= 1 && value <= 16 : value.every(isProxy)))
    .optional()
    .describe(
      `how many proxies stand before ${what}, 1 to 16, or their addresses, e.g. 10.0.0.0/8,loopback (default: none is believed)`,
    );
}
