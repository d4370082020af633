import {
  bytesSetting,
  durationSetting,
  integerSetting,
  objectStoreSetting,
  s3ChecksumsSetting,
  s3EndpointSetting,
  signingKeyFileSetting,
  workerSettings,
} from '@packhouse/runtime';
import { z } from 'zod';

/** The environment of a packer. */
export const packerSettings = workerSettings.extend({
  OBJECT_STORE: objectStoreSetting(),
  S3_ENDPOINT: s3EndpointSetting(),
  S3_CHECKSUMS: s3ChecksumsSetting(),
  SIGNING_KEY_FILE: signingKeyFileSetting(),
  PACK_CONCURRENCY: integerSetting('kinds packed at a time, 1 to 64 (default 3)', 1, 64).default(3),
  AUDIT_SAMPLE: z
    .string()
    .regex(/^\d*\.?\d+$/)
    .transform(Number)
    .refine((share) => share <= 1)
    .describe(
      'the share of the published bundles that each scheduled audit reads back, 0 to 1 (default 0.001)',
    )
    .default(0.001),
  AUDIT_EVERY: durationSetting(
    'the time from one scheduled audit to the next, e.g. 1h (the default), 1s at least',
    1_000,
  ).default(3_600_000),
  AUDIT_BYTES_PER_SECOND: bytesSetting(
    'how fast a scheduled audit reads the object store on average, 1KiB at least, e.g. 2MiB (the default)',
  )
    .refine((bytes) => bytes >= 1_024)
    .default(2_097_152),
});
