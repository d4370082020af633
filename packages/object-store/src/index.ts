export { createDiskStore, type DiskStoreOptions } from './create-disk-store.js';
export { createS3Store, type S3StoreOptions } from './create-s3-store.js';
export type { ByteRange, ListedObject, ObjectInfo, ObjectStore, PutOptions } from './object-store.js';
export { type OpenObjectStoreOptions, openObjectStore } from './open-object-store.js';
