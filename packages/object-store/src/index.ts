export { createDiskStore } from './create-disk-store.js';
export type { ListedObject, ObjectStore } from './object-store.js';
export { openObjectStore } from './open-object-store.js';
export { probeStore } from './probe-store.js';
