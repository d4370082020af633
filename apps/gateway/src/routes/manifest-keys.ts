import type { SigningKeyRow } from '@packhouse/database';
import { toPublicKey } from '@packhouse/manifest';
import { createTtlCache } from '../cache/ttl-cache.js';
import type { Route } from '../http/route.js';
import type { GatewayParts } from './common/gateway-parts.js';
import { described, list, nullable, object, record, refusals, text } from './common/schemas.js';

/** How long an answer of the database is reused, in milliseconds. */
const REUSE_MS = 1_000;

const signingKey = object({
  keyId: text('First 16 hex digits of the SHA-256 of the raw public key.'),
  algorithm: text(undefined, { enum: ['ed25519'] }),
  publicKey: text('The 32 raw bytes, base64.'),
  pem: text(),
  jwk: record(true),
  createdAt: text(),
  retiredAt: nullable(text('null: the key is active.')),
});

const schema = {
  summary: 'Get the public keys of manifest signatures',
  tags: ['bundles'],
  operationId: 'getManifestKeys',
  response: {
    200: described('All keys, oldest first. Entries of a retired key stay valid.', {
      keys: list(signingKey),
    }),
    ...refusals('method-not-allowed', 'unavailable', 'draining', 'internal'),
  },
};

/** `GET /.well-known/packhouse-manifest-keys.json`: needs no API key. */
export function manifestKeysRoute(parts: GatewayParts): Route {
  const { clock } = parts.context;
  const remember = createTtlCache(clock, REUSE_MS, 1);
  return {
    method: 'GET',
    path: '/.well-known/packhouse-manifest-keys.json',
    name: 'manifest-keys',
    schema,
    async answer(exchange) {
      const keys = await remember('keys', () => parts.database.manifest.keys());
      exchange.header('cache-control', 'public, max-age=60').sendJson({ keys: keys.map(toDocument) });
    },
  };
}

function toDocument({ keyId, publicKey, createdAt, retiredAt }: SigningKeyRow): object {
  const key = toPublicKey(publicKey);
  return {
    keyId,
    algorithm: 'ed25519',
    publicKey: publicKey.toString('base64'),
    pem: key.export({ format: 'pem', type: 'spki' }),
    jwk: { ...key.export({ format: 'jwk' }), kid: keyId, use: 'sig', alg: 'EdDSA' },
    createdAt: createdAt.toISOString(),
    retiredAt: retiredAt?.toISOString() ?? null,
  };
}
