import type { Kind } from '@packhouse/chain';
import { type DeflateKernel, openDeflateKernel } from '@packhouse/kernels';
import { ITEM_SEED } from './item-set.js';

let kernel: DeflateKernel | null | undefined;

/**
 * The digests of a text's items, found by the kernel: by one of this process, which is opened when it is first
 * needed. Returns null if the text is not canonical, or where Node has no WebAssembly with SIMD.
 */
export function scanItems(kind: Kind, text: Uint8Array): Uint8Array | null {
  if (kernel === undefined) kernel = openIfPossible();
  if (kernel === null) return null;
  kernel.take(text);
  return kernel.items(kind, ITEM_SEED);
}

function openIfPossible(): DeflateKernel | null {
  try {
    return openDeflateKernel();
  } catch {
    return null;
  }
}
