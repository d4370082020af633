import { createRecordScanner } from './record-scanner.js';

/**
 * The texts of the elements of a JSON array, in order, as views of `text`: what JSON.parse would give, not parsed.
 *
 * Throws BUNDLE_INVALID where the text is not an array, is cut off or goes on behind its end.
 */
export function splitArray(text: Buffer): Buffer[] {
  const scanner = createRecordScanner({ form: 'array' });
  const records = scanner.push(text);
  scanner.finish();
  return records;
}
