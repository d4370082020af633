export { createDiskStore } from './create-disk-store.js';
export type { ExpectedObject, ListedObject, ObjectStore } from './object-store.js';
export { openObjectStore, probeStore } from './open-object-store.js';
