import { z } from 'zod';

/** DATABASE_URL. */
export const databaseUrlSetting = (): z.ZodString =>
  z
    .string()
    .regex(/^postgres(ql)?:\/\//)
    .describe('a Postgres address, e.g. postgres://user:password@host:5432/packhouse');

/** REDIS_URL; `use` says what for, and what happens without it. */
export const redisUrlSetting = (use: string): z.ZodOptional<z.ZodString> =>
  z
    .string()
    .regex(/^rediss?:\/\//)
    .optional()
    .describe(`a Redis address, e.g. redis://host:6379, ${use}`);

/** NETWORKS_FILE. */
export const networksFileSetting = (): z.ZodString =>
  z.string().describe('the path of the networks file, e.g. ./networks.yaml');

/** OBJECT_STORE. */
export const objectStoreSetting = (): z.ZodString =>
  z.string().describe('s3://bucket/prefix or the path of a folder');

/** S3_ENDPOINT. */
export const s3EndpointSetting = (): z.ZodOptional<z.ZodURL> =>
  z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe("an S3 store's address other than Amazon's, e.g. http://localhost:9000");
