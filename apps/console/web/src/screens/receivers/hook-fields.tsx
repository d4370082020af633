import { formatCount, pluralize } from '../../lib/format.js';
import { kinds, lines, text } from '../../parts/form-fields.js';
import type { Hook } from './delivery-state.js';

/** Where a webhook is, and what it is sent. */
export const HOOK_FIELDS = {
  url: text('URL', {
    type: 'url',
    required: true,
    maxLength: 2_000,
    autocomplete: 'off',
    placeholder: 'https://example.com/packhouse',
  }),
  kinds,
  addresses: lines('Only logs of these contracts', '0x…', 'all'),
  topics: lines('Only logs with these first topics', '0x…', 'all'),
};

/** Of its address, whose path may be a secret. */
export const getHost = ({ url }: Hook): string => new URL(url).host;

/** What it is sent, in a few words. */
export function describe({ kinds: sent, finalOnly, addresses, topics, from }: Hook): string {
  const filter = [
    ...(addresses.length > 0 ? [pluralize(addresses.length, 'contract')] : []),
    ...(topics.length > 0 ? [pluralize(topics.length, 'topic')] : []),
  ];
  return [
    sent.join(', '),
    ...(filter.length > 0 ? [`of ${filter.join(' and ')}`] : []),
    ...(finalOnly ? ['finalized only'] : []),
    `from block ${formatCount(from)}`,
  ].join(', ');
}
