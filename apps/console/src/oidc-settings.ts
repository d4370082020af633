import { PackhouseError } from '@packhouse/runtime';
import type { z } from 'zod';
import type { OidcOptions } from './access/oidc-routes.js';
import type { consoleSettings } from './settings.js';

type All = z.infer<typeof consoleSettings>;
type Settings = Pick<All, Extract<keyof All, `OIDC_${string}`>>;

/** The provider of the settings; undefined: there is none. Throws SETTINGS_INVALID if some of them are missing. */
export function toOidcOptions(settings: Settings): OidcOptions | undefined {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_ROLES: roles } = settings;
  if (issuer === undefined && clientId === undefined && roles === undefined) return undefined;
  if (issuer === undefined || clientId === undefined || roles === undefined) {
    const missing = Object.entries({ OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_ROLES: roles })
      .filter(([, value]) => value === undefined)
      .map(([name]) => name);
    throw new PackhouseError({
      code: 'SETTINGS_INVALID',
      message: `Sign-in by OIDC needs ${missing.join(' and ')}.`,
      hint: 'See docs/console.md.',
    });
  }
  const url = new URL(issuer);
  return {
    issuer: url,
    clientId,
    clientSecret: settings.OIDC_CLIENT_SECRET,
    scope: settings.OIDC_SCOPE,
    nameClaim: settings.OIDC_NAME_CLAIM,
    roleClaim: settings.OIDC_ROLE_CLAIM,
    roles,
    label: settings.OIDC_LABEL ?? url.host,
  };
}
