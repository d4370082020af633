import { bundleOf, type StoredBundle } from '../bundles/bundle-row.js';
import { selectCovering } from '../bundles/select-covering.js';
import { kindCode } from '../connection/codes.js';
import type { Connections } from '../connection/connections.js';
import type { Database } from '../database.js';
import type { NetworkIds } from '../networks/networks.js';
import { fragmentInfo } from '../staging/fragment-info.js';
import { segmentStart } from '../staging/segments.js';
import type { FragmentRow } from '../staging/select-fragments.js';
import { selectFragmentAt } from './select-fragment-at.js';

/**
 * Says where one block is, published first.
 *
 * A block may be published and reclaimed between the two questions, so a block that is nowhere is looked for in the
 * bundles once more.
 */
export function createLocate(connections: Connections, ids: NetworkIds): Database['locate'] {
  return async (network, kind, number) => {
    const id = await ids.find(network);
    if (id === undefined) return { state: 'absent' };
    const values = [id, kindCode(kind), number];
    const published = () => connections.query<StoredBundle>(selectCovering, values);
    const [bundle] = await published();
    if (bundle !== undefined) return { state: 'published', bundle: bundleOf(network, bundle) };
    const rows = await connections.query<FragmentRow>(selectFragmentAt, [...values, segmentStart(number)]);
    if (rows[0] !== undefined) return { state: 'staged', fragment: fragmentInfo(rows[0]) };
    const [late] = await published();
    return late === undefined ? { state: 'absent' } : { state: 'published', bundle: bundleOf(network, late) };
  };
}
