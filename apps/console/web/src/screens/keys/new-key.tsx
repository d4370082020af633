import { useState } from 'preact/hooks';
import { NewForm } from '../../parts/changes.js';
import { ShownOnce } from '../../parts/copy.js';
import { type FormFields, text } from '../../parts/form-fields.js';
import { KeyFields } from './key-fields.js';

const APPLICATION = text('Application (created if it is new)', { required: true, maxLength: 100 });

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
  const given: FormFields = application === undefined ? { application: APPLICATION } : {};
  return (
    <KeyFields>
      {(fields) => (
        <NewForm
          title="New key"
          name="keys/create"
          submit="Create"
          fields={{ ...given, ...fields }}
          input={{ application }}
          defaults={{ plan: 'standard' }}
          done={(key) => {
            setMade(key);
            onMade?.(key.apiKey);
          }}
        />
      )}
    </KeyFields>
  );
}
