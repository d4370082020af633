import { useState } from 'preact/hooks';
import { formatTime } from '../../lib/format.js';
import { ActionButton, ChangeForm, MayChange } from '../../parts/changes.js';
import { ShownOnce } from '../../parts/copy.js';
import { number } from '../../parts/form-fields.js';
import type { KeyRow } from './key-condition.js';
import { KeyFields } from './key-fields.js';

const ROTATION = {
  overlapHours: number('Hours the old secret keeps working (0 to 720)', {
    required: true,
    range: [0, 720],
    initial: 24,
  }),
};

/** Changes a key that is not revoked: its secret, its terms, or for good. */
export function KeyActions({ row }: { row: KeyRow }) {
  const [edited, edit] = useState(false);
  const [secret, setSecret] = useState<{ apiKey: string; oldSecretUntil: string | null } | null>(null);
  const { prefix } = row;
  return (
    <MayChange>
      <p class="actions">
        <button type="button" aria-expanded={edited} onClick={() => edit(!edited)}>
          Edit
        </button>
        <ActionButton
          name="keys/revoke"
          input={{ key: prefix }}
          confirm={`Revoke ${prefix} of ${row.application.slice(0, 80)}? Gateways reject it within a second. This cannot be undone.`}
        >
          Revoke
        </ActionButton>
      </p>
      {edited && (
        <KeyFields>
          {(fields) => (
            <ChangeForm
              name="keys/set"
              submit="Save"
              subject={`key ${prefix}`}
              fields={fields}
              input={{ key: prefix }}
              row={row}
              done={() => edit(false)}
              cancel={() => edit(false)}
            />
          )}
        </KeyFields>
      )}
      {secret === null ? (
        <Rotate row={row} done={setSecret} />
      ) : (
        <NewSecret {...secret} prefix={prefix} done={() => setSecret(null)} />
      )}
    </MayChange>
  );
}

/**
 * One click makes a new secret, as the old one works on for a day unless somebody says otherwise. While an older one does,
 * the next rotation would end it at once: that is asked first.
 */
function Rotate({
  row: { prefix, oldSecretUntil },
  done,
}: {
  row: KeyRow;
  done: (made: { apiKey: string; oldSecretUntil: string | null }) => void;
}) {
  return (
    <ChangeForm
      name="keys/rotate"
      submit="Rotate"
      confirm={
        oldSecretUntil === null
          ? undefined
          : `The secret before the last rotation works until ${formatTime(oldSecretUntil)}. Rotate again and end it now?`
      }
      fields={ROTATION}
      input={{ key: prefix }}
      done={done}
    />
  );
}

function NewSecret(given: {
  apiKey: string;
  oldSecretUntil: string | null;
  prefix: string;
  done: () => void;
}) {
  const { apiKey, oldSecretUntil, prefix, done } = given;
  return (
    <ShownOnce text={apiKey} label="the key" done={done}>
      New secret of <code>{prefix}</code>.
      {oldSecretUntil !== null && ` The old one works until ${formatTime(oldSecretUntil)}.`}
    </ShownOnce>
  );
}
