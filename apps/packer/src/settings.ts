import {
  bytesSetting,
  durationSetting,
  integerSetting,
  isAddressRange,
  signingKeyFileSetting,
  storeSettings,
  webSetting,
  workerSettings,
} from '@packhouse/runtime';
import { z } from 'zod';

/** The environment of a packer. */
export const packerSettings = workerSettings.extend({
  ...storeSettings,
  SIGNING_KEY_FILE: signingKeyFileSetting(),
  LAKE: z.enum(['on', 'off']).default('off').describe('on: writes the tables of the lake (default off)'),
  PACK_CONCURRENCY: integerSetting('kinds packed at a time, 1 to 64 (default 3)', 1, 64).default(3),
  PUBLIC_URL: webSetting(
    'the public address of the gateway, for links in webhooks, e.g. https://data.example.com',
  ),
  HOOK_ALLOWED_ADDRESSES: z
    .string()
    .transform((text) => text.split(',').map((entry) => entry.trim()))
    .refine((entries) => entries.every(isAddressRange))
    .describe('private addresses and ranges that may get webhooks, e.g. 10.0.0.0/8,127.0.0.1')
    .optional(),
  HOOK_CONCURRENCY: integerSetting('webhooks delivered to at a time, 1 to 256 (default 16)', 1, 256).default(
    16,
  ),
  HOOK_TIMEOUT_MS: integerSetting(
    'milliseconds that a receiver of a webhook has to answer, 100 to 60000 (default 15000)',
    100,
    60_000,
  ).default(15_000),
  HOOK_QUARANTINE_DAYS: integerSetting(
    'days without an accepted delivery after which a webhook is quarantined, 1 to 30 (default 3)',
    1,
    30,
  ).default(3),
  CONSOLE_URL: webSetting(
    'the address of the console, for links in notifications, e.g. https://packhouse.example.com',
  ),
  SMTP_URL: z
    .url({ protocol: /^smtps?$/, hostname: /./ })
    .optional()
    .describe(
      'the server that sends e-mail, e.g. smtps://user:password@mail.example.com or smtp://localhost:25',
    ),
  SMTP_FROM: z
    .string()
    .regex(/^[^\s<>"@,;]+@[^\s<>"@,;]+$/)
    .optional()
    .describe('the sender of e-mails, e.g. packhouse@example.com; required with SMTP_URL'),
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
