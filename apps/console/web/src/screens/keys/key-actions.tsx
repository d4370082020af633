import { useState } from 'preact/hooks';
import { toNumber } from '../../lib/form-values.js';
import { formatTime } from '../../lib/format.js';
import { ActionButton, ChangeForm, MayChange } from '../../parts/changes.js';
import { ShownOnce } from '../../parts/copy.js';
import { NumberField } from '../../parts/fields.js';
import type { KeyRow } from './key-condition.js';
import { getKeyTerms, KeyFields } from './key-fields.js';

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
        <ChangeForm
          name="keys/set"
          submit="Save"
          subject={`key ${prefix}`}
          getInput={(form) => ({ key: prefix, ...getKeyTerms(form, row), expected: getExpected(row) })}
          done={() => edit(false)}
          cancel={() => edit(false)}
        >
          <KeyFields row={row} />
        </ChangeForm>
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
      getInput={(form) => ({ key: prefix, overlapHours: toNumber(form, 'overlapHours') ?? 0 })}
      done={done}
    >
      <NumberField
        label="Hours the old secret keeps working (0 to 720)"
        name="overlapHours"
        value={24}
        required
      />
    </ChangeForm>
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

/** The terms as they were read: with them, a change does not overwrite that of another operator. */
function getExpected(row: KeyRow): object {
  const { plan, network, expiresAt, origins, addresses, methods, contracts, maxLogRange } = row;
  return { plan, network, expiresAt, origins, addresses, methods, contracts, maxLogRange };
}
