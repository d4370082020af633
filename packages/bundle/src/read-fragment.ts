import { bundleInvalid } from './bundle-invalid.js';
import type { FragmentInfo } from './fragment.js';
import { inflateFragment } from './inflate-fragment.js';
import { createRecordScanner } from './record-scanner.js';

/** The record texts of a fragment, one a block, in order. Throws BUNDLE_INVALID. */
export async function readFragment(options: { fragment: FragmentInfo; body: Buffer }): Promise<Buffer[]> {
  const { startBlock, endBlock } = options.fragment;
  const scanner = createRecordScanner({ form: 'fragment' });
  const records = scanner.push(await inflateFragment(options));
  records.push(...scanner.finish());
  if (records.length !== endBlock - startBlock + 1) {
    throw bundleInvalid(
      `Fragment ${startBlock}-${endBlock} holds ${records.length} records, expected ${endBlock - startBlock + 1}.`,
    );
  }
  return records;
}
