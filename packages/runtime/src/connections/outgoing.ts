/** Codes of OpenSSL for a chain that ends at an authority that Node does not know, as the proxies of companies have. */
const UNKNOWN_AUTHORITY: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

const MAX_CAUSES = 4;

/** Advice if a connection failed because Node does not know who signed the certificate; undefined if it did not. */
export function getCertificateHint(error: unknown): string | undefined {
  let at = error as { code?: unknown; cause?: unknown } | null | undefined;
  for (let depth = 0; depth < MAX_CAUSES && at != null; depth += 1) {
    if (typeof at.code === 'string' && UNKNOWN_AUTHORITY.has(at.code))
      return 'If you trust who signed the certificate, give that authority to Node: NODE_EXTRA_CA_CERTS=/path/to/ca.pem.';
    at = at.cause as typeof at;
  }
  return undefined;
}

/** Variables that name proxies, in the order in which undici reads them. */
export const PROXIES = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY'];

/** Whether the environment names a proxy that undici uses; without one nothing has to ask. */
export function namesProxy(env: NodeJS.ProcessEnv): boolean {
  return PROXIES.some((name) => env[name]);
}
