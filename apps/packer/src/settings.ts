import { integerSetting } from '@packhouse/runtime';
import { z } from 'zod';

/** The environment of a packer. */
export const packerSettings = z.object({
  DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\//)
    .describe('a Postgres address, e.g. postgres://user:password@host:5432/packhouse'),
  REDIS_URL: z
    .string()
    .regex(/^rediss?:\/\//)
    .optional()
    .describe('a Redis address for the queues, e.g. redis://host:6379; without it they live in Postgres'),
  NETWORKS_FILE: z.string().describe('the path of the networks file, e.g. ./networks.yaml'),
  OBJECT_STORE: z.string().describe('s3://bucket/prefix or the path of a folder'),
  PACK_CONCURRENCY: integerSetting(
    'how many kinds are packed at a time, 1 to 64 (default 3)',
    1,
    64,
  ).optional(),
  METRICS_PORT: integerSetting(
    'the port of /metrics and /healthz, 0 for none (the default)',
    0,
    65_535,
  ).optional(),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
    .optional()
    .describe('fatal, error, warn, info (the default), debug, trace or silent'),
});
