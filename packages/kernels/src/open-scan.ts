import { SCAN_BASE64 } from './bytes/scan.js';
import { openModule } from './open-module.js';

/** See kernel/scan/scan.ts; addresses are numbers, 0 is "declined". */
interface Exports {
  memory: { readonly buffer: ArrayBuffer };
  reserve(bytes: number): number;
  region(bytes: number): number;
  outline(from: number, bytes: number, into: number, room: number): number;
  block(): number;
  result(): number;
  transactions(at: number, length: number): number;
  receipts(at: number, length: number): number;
  traces(at: number, length: number): number;
}

/** The compiled scanner with a memory of its own. */
export interface ScanKernel extends Exports {
  /** All of its memory, as it is now: after `reserve` it may be another array. */
  bytes(): Buffer;
}

/** Opens a scanner. Throws as `openModule` does. */
export function openScanKernel(): ScanKernel {
  return openModule<Exports>(SCAN_BASE64);
}
