import { isKind } from '@packhouse/chain';
import type { Database } from '@packhouse/database';
import type { ObjectStore } from '@packhouse/object-store';
import { findFile } from '@packhouse/operations';
import { PackhouseError } from '@packhouse/runtime';
import type { FastifyInstance } from 'fastify';
import type { Access } from '../access/access.js';

/** The largest file that a page opens, in bytes. */
const MAX_BYTES = 64 * 2 ** 20;

/**
 * `GET /api/files/<network>/<kind>/<start>`: a published file as it is in the object store, for viewers. Throws
 * FILE_UNKNOWN, FILE_TOO_LARGE, OBJECT_MISMATCH, OBJECT_STORE_INVALID if this console has none.
 */
export function addFileRoute(
  app: FastifyInstance,
  { database, objectStore }: { database: Database; objectStore?: ObjectStore | undefined },
  access: Access,
): void {
  app.get<{ Params: { network: string; kind: string; start: string } }>(
    '/api/files/:network/:kind/:start',
    async (request, reply) => {
      await access.require(request, 'viewer');
      const { network, kind, start } = request.params;
      if (!isKind(kind) || !/^\d{1,15}$/.test(start)) {
        throw new PackhouseError({
          code: 'FILE_UNKNOWN',
          message: `${`${kind}/${start}`.slice(0, 100)} is not a file.`,
          hint: 'Use a kind and the first block of a file.',
        });
      }
      if (objectStore === undefined) {
        throw new PackhouseError({
          code: 'OBJECT_STORE_INVALID',
          message: 'This console cannot read files: OBJECT_STORE is not set.',
          hint: 'Set OBJECT_STORE as for the packers and restart the console.',
        });
      }
      const { byteLength, objectKey, sha256 } = await findFile(
        database.network(network),
        network,
        kind,
        Number(start),
      );
      if (byteLength > MAX_BYTES) {
        throw new PackhouseError({
          code: 'FILE_TOO_LARGE',
          message: `The file has ${byteLength} bytes; a page opens up to ${MAX_BYTES}.`,
          hint: 'Download it with `packhouse pull`.',
        });
      }
      const gone = new AbortController();
      reply.raw.once('close', () => gone.abort());
      const body = await objectStore.stream(objectKey, {
        expected: { size: byteLength, sha256 },
        signal: gone.signal,
      });
      return reply.type('application/gzip').header('content-disposition', 'attachment').send(body);
    },
  );
}
