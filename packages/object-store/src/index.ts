export type { ByteRange, ObjectInfo, ObjectStore, PutOptions } from './object-store.js';
