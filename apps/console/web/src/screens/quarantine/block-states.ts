import type { KindState } from '@packhouse/operations';
import type { Cure } from '../../lib/alarm-cures.js';
import { toHref } from '../../lib/route.js';

interface Place {
  network: string;
  kind: string;
  block: number;
}

/** What a block of a kind can be at, and where it goes on; null: on this page. */
export const BLOCK_STATES: Readonly<Record<KindState, ((place: Place) => Cure) | null>> = {
  published: ({ network, block }) => ({ label: 'View file', href: toHref('files', { network, block }) }),
  staged: () => ({ label: 'View workers', href: toHref('workers') }),
  quarantined: null,
  missing: ({ network, block }) => ({
    label: 'View on the map',
    href: toHref('coverage', { network, from: block, to: block }),
  }),
  paused: ({ network }) => ({
    label: 'View backfills',
    href: toHref('backfills', { network, state: 'paused' }),
  }),
  'not requested': ({ network, kind, block }) => ({
    label: 'New backfill',
    href: toHref('backfills/new', { network, kinds: kind, from: block, to: block }),
  }),
};
