import type { ObjectStore } from '@packhouse/object-store';
import { isPackhouseError } from '@packhouse/runtime';

/** Reads an object; null if it is not in the store. Throws the other errors of `read`. */
export async function readIfStored(
  store: Pick<ObjectStore, 'read'>,
  key: string,
  options?: { signal?: AbortSignal },
): Promise<Buffer | null> {
  try {
    return await store.read(key, options);
  } catch (error) {
    if (isPackhouseError(error, 'OBJECT_MISSING')) return null;
    throw error;
  }
}
