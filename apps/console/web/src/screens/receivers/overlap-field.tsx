import { Field } from '../../parts/fields.js';

/** For how long the secret before a rotation signs too, so that the receiver can change over: the field `overlap`. */
export const OverlapField = () => (
  <Field
    label="Hours the old secret keeps signing (0 to 168)"
    name="overlap"
    type="number"
    min={0}
    max={168}
    required
    defaultValue={24}
  />
);
