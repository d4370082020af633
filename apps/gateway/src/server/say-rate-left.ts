import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Admission } from '../auth/admission.js';
import { bearerKey } from '../auth/bearer-key.js';

const KEY = /^ph_\w{8}_[\w-]{43}$/;

/**
 * Has refusals that come before anything is counted (a wrong verb, nothing at the address, a key that ended or may not
 * come from there, a gateway that drains) say what their key has left, where there is such a key.
 */
export function sayRateLeft(app: FastifyInstance, admission: Admission): void {
  app.addHook('onSend', (request, reply, _, done) => {
    const refusal = request.visit?.refusal ?? '';
    const silent = refusal === '' || refusal === 'unauthenticated' || reply.hasHeader('ratelimit-limit');
    const key = silent ? undefined : keyOf(request);
    if (key === undefined) done();
    // Where the keys or the counts cannot be read, the refusal goes without.
    else
      admission.sayLeft(key, reply).then(
        () => done(),
        () => done(),
      );
  });
}

/** The key in the path of a request, or else in its header. */
function keyOf(request: FastifyRequest): string | undefined {
  const path = (request.raw.url ?? '').split('?', 1)[0] as string;
  return (
    path
      .split('/')
      .map(decoded)
      .find((part) => KEY.test(part)) ?? bearerKey(request.headers.authorization)
  );
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return '';
  }
}
