import { formatCount, pluralize } from '../../lib/format.js';
import { Field, KindFields, LinesField } from '../../parts/fields.js';
import type { Hook } from './delivery-state.js';

/** Where a webhook is, and what it is sent: the fields `url`, `kind`, `addresses` and `topics`. */
export const HookFields = ({ hook }: { hook?: Hook }) => (
  <>
    <Field
      label="URL"
      name="url"
      type="url"
      required
      maxLength={2_000}
      autocomplete="off"
      placeholder="https://example.com/packhouse"
      defaultValue={hook?.url}
    />
    <KindFields checked={hook?.kinds ?? ['logs']} />
    <LinesField
      label="Only logs of these contracts"
      empty="all"
      name="addresses"
      placeholder="0x…"
      value={hook?.addresses}
    />
    <LinesField
      label="Only logs with these first topics"
      empty="all"
      name="topics"
      placeholder="0x…"
      value={hook?.topics}
    />
  </>
);

/** Of its address, whose path may be a secret. */
export const getHost = ({ url }: Hook): string => new URL(url).host;

/** What it is sent, in a few words. */
export function describe({ kinds, finalOnly, addresses, topics, from }: Hook): string {
  const filter = [
    ...(addresses.length > 0 ? [pluralize(addresses.length, 'contract')] : []),
    ...(topics.length > 0 ? [pluralize(topics.length, 'topic')] : []),
  ];
  return [
    kinds.join(', '),
    ...(filter.length > 0 ? [`of ${filter.join(' and ')}`] : []),
    ...(finalOnly ? ['finalized only'] : []),
    `from block ${formatCount(from)}`,
  ].join(', ');
}
