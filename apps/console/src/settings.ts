import {
  integerSetting,
  networksFileSetting,
  processSettings,
  redisUrlSetting,
  storeSettings,
  trustProxySetting,
  webSetting,
} from '@packhouse/runtime';
import { z } from 'zod';
import { parseOidcRoles } from './access/oidc-person.js';

/** The environment of a console. */
export const consoleSettings = processSettings.extend({
  REDIS_URL: redisUrlSetting('the Redis of the queues; default: Postgres'),
  NETWORKS_FILE: networksFileSetting().optional(),
  ...storeSettings,
  OBJECT_STORE: storeSettings.OBJECT_STORE.optional(),
  CONSOLE_HOST: z
    .string()
    .default('127.0.0.1')
    .describe('the address to listen on, e.g. 0.0.0.0 (default 127.0.0.1)'),
  CONSOLE_PORT: integerSetting(
    'the port of the console, 0 to 65535, 0 for a free one (default 8090)',
    0,
    65_535,
  ).default(8_090),
  CONSOLE_URL: webSetting(
    'the public URL, e.g. https://packhouse.example.com; required unless browsers run on this machine',
  ),
  PUBLIC_URL: webSetting('the PUBLIC_URL of the gateway, for the examples of API keys'),
  TRUST_PROXY: trustProxySetting('the console'),
  PASSWORD_SIGN_IN: z
    .enum(['on', 'off'])
    .default('on')
    .describe('on or off: whether passwords of operators sign in (default on)'),
  OIDC_ISSUER: z
    .string()
    .refine(isIssuer)
    .optional()
    .describe(
      'the issuer of the OIDC provider, https:// and as it writes it, e.g. https://login.example.com/realms/staff',
    ),
  OIDC_CLIENT_ID: z.string().max(300).optional().describe('the ID of this client at the provider'),
  OIDC_CLIENT_SECRET: z
    .string()
    .optional()
    .describe('the secret of this client at the provider; without it the client is a public one'),
  OIDC_ROLES: z
    .string()
    .transform((text, context) => {
      const roles = parseOidcRoles(text);
      if (roles !== null) return roles;
      context.addIssue('roles');
      return z.NEVER;
    })
    .optional()
    .describe(
      'roles by value of OIDC_ROLE_CLAIM, e.g. admin=platform;operator=data;viewer=*, * for everybody',
    ),
  OIDC_ROLE_CLAIM: z
    .string()
    .max(200)
    .default('groups')
    .describe('the claim with the values of OIDC_ROLES, e.g. realm_access.roles (default groups)'),
  OIDC_NAME_CLAIM: z
    .string()
    .max(200)
    .default('email')
    .describe('the claim with the name of an operator, e.g. preferred_username (default email)'),
  OIDC_SCOPE: z
    .string()
    .regex(/(^| )openid( |$)/)
    .default('openid profile email')
    .describe('the scopes that are asked for, with openid (default openid profile email)'),
  OIDC_LABEL: z
    .string()
    .max(60)
    .optional()
    .describe("the provider's name on the button, e.g. Example SSO; default: its host"),
});

/** An address with TLS, or of this machine, for tests; not that of the document about it, which names no issuer to check. */
function isIssuer(text: string): boolean {
  if (!URL.canParse(text) || text.includes('/.well-known/')) return false;
  const { protocol, hostname } = new URL(text);
  return (
    protocol === 'https:' || (protocol === 'http:' && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(hostname))
  );
}
