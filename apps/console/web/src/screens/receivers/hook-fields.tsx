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
