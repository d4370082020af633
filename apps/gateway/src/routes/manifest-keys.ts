import type { SigningKeyRow } from '@packhouse/database';
import { publicKeyOf } from '@packhouse/manifest';
import type { Route } from '../http/router.js';
import type { GatewayParts } from './gateway-parts.js';
import { refusals } from './schemas.js';

/** The fixed path of the public keys. */
const MANIFEST_KEYS_PATH = '/.well-known/packhouse-manifest-keys.json';

/** How long an answer of the database is reused, in milliseconds. */
const REUSE_MS = 1_000;

const text = { type: 'string' } as const;

const schema = {
  summary: 'The public keys that manifests are signed with',
  tags: ['bundles'],
  operationId: 'getManifestKeys',
  response: {
    200: {
      description: 'All keys, the oldest first. Entries of a retired key stay valid.',
      type: 'object',
      required: ['keys'],
      properties: {
        keys: {
          type: 'array',
          items: {
            type: 'object',
            required: ['keyId', 'algorithm', 'publicKey', 'pem', 'jwk', 'createdAt', 'retiredAt'],
            properties: {
              keyId: { ...text, description: 'First 16 hex digits of the SHA-256 of the raw public key.' },
              algorithm: { type: 'string', enum: ['ed25519'] },
              publicKey: { ...text, description: 'The 32 raw bytes, base64.' },
              pem: text,
              jwk: { type: 'object', additionalProperties: true },
              createdAt: text,
              retiredAt: { type: ['string', 'null'], description: 'null: entries are signed with it now.' },
            },
          },
        },
      },
    },
    ...refusals('method-not-allowed', 'unavailable', 'draining', 'internal'),
  },
} as const;

/** `GET /.well-known/packhouse-manifest-keys.json`: needs no API key. */
export function manifestKeysRoute(parts: GatewayParts): Route {
  const { clock } = parts.context;
  let last: { at: number; answer: Promise<SigningKeyRow[]> } | undefined;
  const keys = (): Promise<SigningKeyRow[]> => {
    const now = clock.elapsed();
    if (last === undefined || now - last.at >= REUSE_MS) {
      const asked = { at: now, answer: parts.database.manifest.keys() };
      last = asked;
      asked.answer.catch(() => {
        if (last === asked) last = undefined;
      });
    }
    return last.answer;
  };
  return {
    method: 'GET',
    path: MANIFEST_KEYS_PATH,
    name: 'manifest-keys',
    schema,
    async answer(exchange) {
      const body = { keys: (await keys()).map(documentOf) };
      exchange.header('cache-control', 'public, max-age=60').sendJson(body);
    },
  };
}

function documentOf({ keyId, publicKey, createdAt, retiredAt }: SigningKeyRow): object {
  const key = publicKeyOf(publicKey);
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
