export { createJsonScanner } from './json-scanner.js';
export {
  DIGEST_BYTES,
  NO_PARITY,
  SIGNATURE_BYTES,
  SIGNATURE_FROM,
  SIGNATURE_PARITY,
  SIGNATURE_PLACE,
  SIGNATURE_R,
} from './layout.js';
export { type DeflateKernel, openDeflateKernel } from './open-deflate.js';
export { openScanKernel, type ScanKernel } from './open-scan.js';
export { type Outlined, outlineAnswer } from './outline.js';
export {
  type ColumnBytes,
  openRecordReader,
  type RecordReader,
  type RecordStep,
  type ValueColumn,
} from './record-reader.js';
export { CHECKS, createScanner, type Declined, type Scanned, type Scanner } from './scanner.js';
export { type ObjectTable, type Order, writeTables } from './write-tables.js';
