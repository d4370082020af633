import { isPackhouseError } from '@packhouse/runtime';
import type { ObjectStore } from './object-store.js';

/** An object that is never written. */
const PROBE_KEY = 'readiness-probe';

/**
 * Resolves if the store serves objects to this process. Reads, because the answer of a `head` has no body, so that a
 * missing bucket would look like a missing object. Throws OBJECT_STORE_UNAVAILABLE, OBJECT_STORE_INVALID.
 */
export async function probeStore(store: ObjectStore, signal?: AbortSignal): Promise<void> {
  try {
    await store.read(PROBE_KEY, { signal });
  } catch (error) {
    if (!isPackhouseError(error, 'OBJECT_MISSING')) throw error;
  }
}
