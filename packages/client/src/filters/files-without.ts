import { hasFilter, skipFilterBytes } from '@packhouse/bundle';
import type { BlockRange, Kind } from '@packhouse/chain';
import { isPackhouseError } from '@packhouse/runtime';
import type { GatewayAddress } from '../gateway-address.js';
import type { Http } from '../http.js';
import { canHold, type Wanted } from './can-hold.js';
import { listFilters } from './list-filters.js';

/** Whether some records only are wanted, of a kind whose files have filters. */
export function isFiltered(kind: Kind, { addresses, topics }: Wanted): boolean {
  return hasFilter(kind) && (addresses !== undefined || topics?.some((list) => list !== null) === true);
}

/**
 * The first blocks of those files of a range that hold nothing of what is wanted, as the gateway's filters say. For
 * estimates: no signature is checked. Throws as `Http.get`.
 */
export async function filesWithout(
  parts: { address: GatewayAddress; http: Http },
  { kind, wanted, ...range }: BlockRange & { kind: Kind; wanted: Wanted },
  signal?: AbortSignal,
): Promise<Set<number>> {
  const without = new Set<number>();
  if (!isFiltered(kind, wanted)) return without;
  for await (const { start, object } of listFilters(parts, { kind, ...range }, signal)) {
    if (object !== null && !mayHold(object, wanted)) without.add(start);
  }
  return without;
}

function mayHold(object: Uint8Array, wanted: Wanted): boolean {
  try {
    return canHold(object.subarray(0, skipFilterBytes(object)), wanted);
  } catch (error) {
    if (isPackhouseError(error, 'BUNDLE_INVALID')) return true;
    throw error;
  }
}
