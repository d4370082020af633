import { Field } from '../../parts/fields.js';

/** For how long the secret before a rotation signs too, so that the receiver can change over: the field `overlap`. */
export const OverlapField = () => (
  <Field
    label="Hours for which the old secret signs too (0 to 168)"
    name="overlap"
    type="number"
    min={0}
    max={168}
    required
    defaultValue={24}
  />
);
