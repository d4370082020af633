import { openText, sealText } from '@packhouse/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * Cookies that only this installation can read and make, each for one use. They are `lax`: a browser sends them when
 * another site leads it here. `seal` is the key of the installation.
 */
export function createSealedCookies({ seal, secure, path }: { seal: Buffer; secure: boolean; path: string }) {
  const cookie = { path, httpOnly: true, sameSite: 'lax', secure } as const;
  return {
    keep(reply: FastifyReply, name: string, value: object, seconds: number): void {
      const text = sealText(seal, name, JSON.stringify(value)).toString('base64url');
      reply.setCookie(name, text, { ...cookie, maxAge: seconds });
    },
    /** Takes it out of the browser; null: it has none that is ours. */
    take<T>(request: FastifyRequest, reply: FastifyReply, name: string): T | null {
      const given = request.cookies[name];
      if (given === undefined) return null;
      reply.clearCookie(name, cookie);
      const text = openText(seal, name, Buffer.from(given, 'base64url'));
      return text === null ? null : (JSON.parse(text) as T);
    },
  };
}
