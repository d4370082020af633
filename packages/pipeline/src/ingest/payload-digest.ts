import { createHash } from 'node:crypto';
import type { FetchedBlock } from '@packhouse/node-rpc';

/**
 * The hex SHA-256 of what an upstream sent for a block, as JSON text with its parts in this order: whoever is shown
 * the answer later can say whether it is the one that failed. null where it cannot be told, as with streamed traces.
 */
export function payloadDigest({ block, receipts, traces }: FetchedBlock): string | null {
  if (traces !== undefined && !Array.isArray(traces)) return null;
  try {
    return createHash('sha256').update(JSON.stringify({ block, receipts, traces })).digest('hex');
  } catch {
    // Nested deeper, or longer, than JSON text can be made of.
    return null;
  }
}
