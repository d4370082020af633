import { useState } from 'preact/hooks';
import { toText } from '../../lib/form-values.js';
import { ChangeForm } from '../../parts/changes.js';
import { ShownOnce } from '../../parts/copy.js';
import { Field } from '../../parts/fields.js';
import { getKeyTerms, KeyFields } from './key-fields.js';

/** The form for a key, and then the key, once. */
export function NewKey({
  application,
  onMade,
}: {
  /** Undefined: the form has a field for it. */
  application?: string;
  onMade?: (apiKey: string) => void;
}) {
  const [made, setMade] = useState<{ apiKey: string; prefix: string } | null>(null);
  if (made !== null) {
    return (
      <ShownOnce text={made.apiKey} label="the key" done={() => setMade(null)}>
        Key <code>{made.prefix}</code>.
      </ShownOnce>
    );
  }
  return (
    <details>
      <summary>New key</summary>
      <ChangeForm
        name="keys/create"
        submit="Create"
        getInput={(form) => ({
          application: application ?? toText(form, 'application'),
          ...getKeyTerms(form, null),
        })}
        done={(key) => {
          setMade(key);
          onMade?.(key.apiKey);
        }}
      >
        {application === undefined && (
          <Field label="Application (created if it is new)" name="application" required maxLength={100} />
        )}
        <KeyFields row={null} />
      </ChangeForm>
    </details>
  );
}
