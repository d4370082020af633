import { hash } from 'node:crypto';
import type { BundleRow } from '@packhouse/database';
import type { ObjectStore } from '@packhouse/object-store';
import { PackhouseError } from '@packhouse/runtime';
import type { BodyCache, PinnedBody } from '../cache/body-cache.js';
import type { ServedFile } from './served-file.js';

/** What serving a published bundle needs of its row. */
export type PublishedFacts = Pick<BundleRow, 'objectKey' | 'byteLength' | 'sha256'>;

/** The file of a published bundle, checked against its row as it is read into memory. */
export function publishedFile(
  facts: PublishedFacts,
  parts: { objectStore: ObjectStore; bodies: BodyCache },
): ServedFile {
  const { objectKey, byteLength, sha256 } = facts;
  let pinned: PinnedBody | null = null;
  let released = false;
  return {
    sha256,
    byteLength,
    immutable: true,
    async body() {
      pinned ??= await parts.bodies.pin(objectKey, byteLength, async () => {
        const bytes = await parts.objectStore.read(objectKey);
        if (bytes.length === byteLength && hash('sha256', bytes, 'hex') === sha256) return { bytes, sha256 };
        throw new PackhouseError({
          code: 'OBJECT_MISMATCH',
          message: `The object ${objectKey} has other bytes than its row of the range index says: ${bytes.length} bytes, expected ${byteLength} with SHA-256 ${sha256}.`,
          hint: 'Run `packhouse audit --repair` on this range: it is published again, as the next version.',
          data: { objectKey },
        });
      });
      // The client went away while the body was being read: nobody will release it any more.
      if (released) pinned?.release();
      return pinned;
    },
    stream: (range) => parts.objectStore.stream(objectKey, { range }),
    release: () => {
      released = true;
      pinned?.release();
    },
  };
}
