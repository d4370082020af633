import { JSON_TYPE } from '../../http/exchange.js';
import { Problem, type ProblemReason, toProblem } from '../../http/problem.js';
import type { Route } from '../../http/route.js';
import type { GatewayParts } from '../common/gateway-parts.js';
import { ICEBERG } from './refuse.js';

/** Most bytes of a form: a key, a name, a scope. */
const MAX_FORM = 4_096;

/** Names of errors in OAuth 2.0 (RFC 6749, 5.2). */
const ERRORS: Partial<Record<ProblemReason, string>> = {
  unauthenticated: 'invalid_client',
  forbidden: 'invalid_client',
  'parameter-invalid': 'unsupported_grant_type',
};

/**
 * `POST /iceberg/v1/oauth/tokens`: for engines that send a credential to get a token (RFC 6749, 4.4). The token is the API key
 * itself: a short one would live on after the key was revoked, and would have to be renewed in the middle of a query.
 */
export function tokenRoute({ admission }: GatewayParts): Route {
  return {
    method: 'POST',
    path: `${ICEBERG}/v1/oauth/tokens`,
    name: 'lake',
    bodyLimit: MAX_FORM,
    bodyType: 'application/x-www-form-urlencoded',
    async answer(exchange) {
      const form = new URLSearchParams(exchange.body?.toString() ?? '');
      if (form.get('grant_type') !== 'client_credentials') {
        throw new Problem('parameter-invalid', {
          detail: 'Send grant_type=client_credentials, and the API key as client_secret.',
        });
      }
      const key = form.get('client_secret') ?? basicPassword(exchange.request.headers.authorization);
      await admission.admit(key, exchange);
      exchange.header('cache-control', 'no-store');
      exchange.sendJson({ access_token: key, token_type: 'bearer', scope: form.get('scope') ?? 'catalog' });
    },
    refuse(exchange, error) {
      const problem = toProblem(error);
      const { reason, status, message } = problem;
      exchange.refusal = reason;
      for (const [name, value] of Object.entries(problem.headers)) exchange.header(name, value);
      const body = { error: ERRORS[reason] ?? 'invalid_request', error_description: message };
      exchange.status(status).header('cache-control', 'no-store').sendText(JSON.stringify(body), JSON_TYPE);
    },
  };
}

/** The password of Basic authentication, which clients may use instead of the form (RFC 6749, 2.3.1); absent: none. */
function basicPassword(header: string | undefined): string | undefined {
  const [, encoded] = /^Basic +(\S+) *$/i.exec(header ?? '') ?? [];
  const text = Buffer.from(encoded ?? '', 'base64').toString();
  return text.includes(':') ? text.slice(text.indexOf(':') + 1) : undefined;
}
