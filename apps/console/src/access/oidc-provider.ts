import { type Clock, getCertificateHint, type Logger, PackhouseError } from '@packhouse/runtime';
import * as oidc from 'openid-client';
import { EnvHttpProxyAgent, fetch as undiciFetch } from 'undici';

/** The provider of an installation. */
export interface OidcClient {
  /** Exactly as the provider writes it. */
  issuer: URL;
  clientId: string;
  /** Undefined: a public client, protected by PKCE alone. */
  clientSecret: string | undefined;
  scope: string;
}

/** What a sign-in keeps until the provider sends the browser back. */
export interface OidcAttempt {
  state: string;
  nonce: string;
  /** Of PKCE. */
  verifier: string;
}

/** Claims about a person, whose signature, issuer, audience, time and nonce were checked. */
export type Claims = Readonly<Record<string, unknown>> & { iss: string; sub: string };

/** Seconds that a request to the provider may take, and that its clock may be wrong. */
const TIMEOUT_S = 10;
const CLOCK_S = 60;
const MAX_ANSWER = 1_048_576;
/** How long what was discovered is used, in milliseconds. */
const KNOWN_MS = 3_600_000;

/**
 * Creates the client of a provider: authorization code with PKCE, state and nonce. What the provider says of itself is
 * read when it is needed, so a provider that does not respond stops nothing else.
 */
export function createOidcProvider(parts: { clock: Clock; logger: Logger; client: OidcClient }) {
  const { clock, logger, client } = parts;
  const { issuer, clientId, clientSecret, scope } = client;
  let known: { config: Promise<oidc.Configuration>; until: number } | null = null;
  /** Why the last attempt to discover failed; null: it did not. */
  let problem: string | null = null;

  const discover = async (): Promise<oidc.Configuration> => {
    try {
      const config = await oidc.discovery(
        issuer,
        clientId,
        { [oidc.clockTolerance]: CLOCK_S },
        clientSecret === undefined ? oidc.None() : authenticate(clientSecret),
        {
          timeout: TIMEOUT_S,
          [oidc.customFetch]: createFetch(),
          // Settings allow http: to this machine only.
          execute: issuer.protocol === 'http:' ? [oidc.allowInsecureRequests] : [],
        },
      );
      problem = null;
      return config;
    } catch (error) {
      const found = unavailable(issuer, error);
      problem = found.message;
      logger.warn({ issuer: issuer.href, err: error }, 'the OIDC provider cannot be used; it is tried again');
      throw found;
    }
  };

  const getConfig = (): Promise<oidc.Configuration> => {
    if (known !== null && known.until > clock.elapsed()) return known.config;
    const entry = { config: discover(), until: clock.elapsed() + KNOWN_MS };
    known = entry;
    entry.config.catch(() => {
      if (known === entry) known = null;
    });
    return entry.config;
  };

  return {
    problem: () => problem,
    /** Whether the provider can be used; its problem is known then. */
    probe: async (): Promise<void> => void (await getConfig().catch(() => undefined)),
    /** Begins a sign-in: where to send the browser, and what to keep. Throws OIDC_UNAVAILABLE. */
    async begin(redirectUri: string): Promise<{ url: URL; attempt: OidcAttempt }> {
      const config = await getConfig();
      const attempt = {
        state: oidc.randomState(),
        nonce: oidc.randomNonce(),
        verifier: oidc.randomPKCECodeVerifier(),
      };
      const url = oidc.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope,
        state: attempt.state,
        nonce: attempt.nonce,
        code_challenge: await oidc.calculatePKCECodeChallenge(attempt.verifier),
        code_challenge_method: 'S256',
      });
      return { url, attempt };
    },
    /**
     * Ends a sign-in with the address that the browser was sent back to. `wanted` are claims: if the ID token lacks one,
     * the provider is asked for it. Throws OIDC_REFUSED, OIDC_UNAVAILABLE.
     */
    async end(url: URL, attempt: OidcAttempt, wanted: readonly string[]): Promise<Claims> {
      const config = await getConfig();
      try {
        const tokens = await oidc.authorizationCodeGrant(config, url, {
          expectedState: attempt.state,
          expectedNonce: attempt.nonce,
          pkceCodeVerifier: attempt.verifier,
          idTokenExpected: true,
        });
        const claims = tokens.claims() as Claims;
        const complete = wanted.every((name) => name in claims);
        if (complete || config.serverMetadata().userinfo_endpoint === undefined) return claims;
        return { ...(await oidc.fetchUserInfo(config, tokens.access_token, claims.sub)), ...claims };
      } catch (error) {
        throw refused(issuer, error);
      }
    },
  };
}

/** The secret in the way that the provider takes: by default of the protocol in the header. */
function authenticate(secret: string): oidc.ClientAuth {
  const [post, basic] = [oidc.ClientSecretPost(secret), oidc.ClientSecretBasic(secret)];
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    return (methods.includes('client_secret_basic') ? basic : post)(server, ...rest);
  };
}

/** Requests through the proxies of the environment; an answer that is too large is none. */
function createFetch(): oidc.CustomFetch {
  const dispatcher = new EnvHttpProxyAgent();
  return async (url, options) => {
    const answer = await undiciFetch(url, { ...(options as object), dispatcher });
    const pieces: Uint8Array[] = [];
    let size = 0;
    for await (const piece of answer.body ?? []) {
      size += piece.length;
      if (size > MAX_ANSWER) throw new Error(`an answer has more than ${MAX_ANSWER} bytes`);
      pieces.push(piece);
    }
    const { status } = answer;
    const headers = [...answer.headers] as [string, string][];
    return new Response(status === 204 || status === 304 ? null : Buffer.concat(pieces), { status, headers });
  };
}

function unavailable(issuer: URL, error: unknown): PackhouseError {
  return new PackhouseError({
    code: 'OIDC_UNAVAILABLE',
    message: `The OIDC provider ${issuer.href} cannot be used: ${describe(error)}.`,
    hint:
      getCertificateHint(error) ??
      'Sign in by password or link, or try again. OIDC_ISSUER must be written exactly as the provider writes its issuer.',
    cause: error,
  });
}

const HINTS: Readonly<Record<string, string>> = {
  OAUTH_JWT_TIMESTAMP_CHECK_FAILED: `Compare the clocks of the console and the provider: they may differ by ${CLOCK_S} s.`,
  invalid_client: 'Compare OIDC_CLIENT_ID and OIDC_CLIENT_SECRET with the provider.',
  invalid_grant: 'Sign in again: a code of the provider works once, for a short time.',
};

function refused(issuer: URL, error: unknown): PackhouseError {
  const { code, error: said } = error as { code?: unknown; error?: unknown };
  const known = HINTS[String(said)] ?? HINTS[String(code)];
  return new PackhouseError({
    code: 'OIDC_REFUSED',
    message: `The sign-in at ${issuer.host} failed: ${describe(error)}.`,
    hint: known ?? 'Sign in again.',
    cause: error,
  });
}

/** The code of an error of the protocol, or what the client and the connection say; never a text of the provider. */
function describe(error: unknown): string {
  const { error: said } = error as { error?: unknown };
  if (typeof said === 'string' && /^[\w-]{1,60}$/.test(said)) return said;
  const { message, code, cause } = error as { message?: unknown; code?: unknown; cause?: unknown };
  const inner = cause instanceof Error ? cause : null;
  const innerCode = (inner as { code?: unknown } | null)?.code ?? code;
  const text = inner === null || inner.message === '' ? String(message ?? 'unknown') : inner.message;
  return `${text.slice(0, 200)}${typeof innerCode === 'string' ? ` (${innerCode})` : ''}`;
}
