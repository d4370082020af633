import { formatDate } from '../../lib/format.js';
import { NewForm } from '../../parts/changes.js';
import { number } from '../../parts/form-fields.js';

const FIELDS = {
  overlapHours: number('Hours the old secret keeps signing (0 to 168)', {
    required: true,
    range: [0, 168],
    initial: 24,
  }),
};

/** A new secret; the old one signs too for a while, so that the receiver can change over. */
export function RotateSecret(given: {
  name: 'hooks/rotate' | 'notifications/rotate';
  id: number;
  oldSecretUntil: string | null;
  /** What is signed. */
  signs: string;
  made: (secret: { id: number; secret: string }) => void;
}) {
  const { name, id, oldSecretUntil, signs, made } = given;
  return (
    <>
      {oldSecretUntil !== null && (
        <p>
          {signs} are also signed with the old secret until {formatDate(oldSecretUntil)}.
        </p>
      )}
      <NewForm
        title="Rotate the secret"
        name={name}
        submit="Rotate"
        fields={FIELDS}
        input={{ id }}
        done={({ secret }) => made({ id, secret })}
      />
    </>
  );
}
