import { useState } from 'preact/hooks';
import { pluralize } from '../../lib/format.js';
import { useIsOwner } from '../../lib/hooks/use-session.js';
import { ActionButton, ChangeForm, MayChange, NewForm, OperatorsOnly } from '../../parts/changes.js';
import { number, text } from '../../parts/form-fields.js';
import { type Application, toApplication } from './application.js';
import { useRestrictions } from './key-fields.js';

const NAME = text('Name (cannot be changed later)', { required: true, maxLength: 100 });
const OF_OWNERS = {
  contact: text('Contact', { maxLength: 200, empty: '' }),
  description: text('Description', { maxLength: 1_000, empty: '' }),
};
const OF_OPERATORS = {
  owner: text('Owner (an account; empty: none)', { maxLength: 200, empty: null, autocomplete: 'off' }),
  ...OF_OWNERS,
};

/** The form for an application; its page opens then. */
export const NewApplication = () => (
  <NewForm
    title="New application"
    name="applications/add"
    submit="Create"
    fields={{ name: NAME, ...OF_OPERATORS }}
    done={({ name }) => {
      location.hash = toApplication(name);
    }}
  />
);

/** Changes an application, all its keys at once, or ends it. */
export function ApplicationActions({ row }: { row: Application }) {
  const [shown, show] = useState<'edit' | 'restrict' | null>(null);
  const close = (): void => show(null);
  const isOwner = useIsOwner();
  const { name } = row;
  const toggle = (which: 'edit' | 'restrict') => () => show(shown === which ? null : which);
  const confirm = `Archive ${name.slice(0, 80)} and revoke ${pluralize(row.liveKeys, 'live key')}? Gateways reject them within a second. This cannot be undone.`;
  if (row.archivedAt !== null) {
    return (
      <OperatorsOnly>
        <p class="actions">
          <ActionButton name="applications/restore" input={{ application: name }}>
            Restore
          </ActionButton>
          <span class="faint">Its keys stay revoked.</span>
        </p>
      </OperatorsOnly>
    );
  }
  return (
    <MayChange>
      <p class="actions">
        <button type="button" aria-expanded={shown === 'edit'} onClick={toggle('edit')}>
          Edit
        </button>
        <button type="button" aria-expanded={shown === 'restrict'} onClick={toggle('restrict')}>
          Restrict all keys
        </button>
        <ActionButton name="applications/archive" input={{ application: name }} confirm={confirm}>
          Archive
        </ActionButton>
      </p>
      {shown === 'edit' && (
        <ChangeForm
          name="applications/set"
          submit="Save"
          subject={`application ${name}`}
          fields={isOwner ? OF_OWNERS : OF_OPERATORS}
          input={{ application: name }}
          row={row}
          done={close}
          cancel={close}
        />
      )}
      {shown === 'restrict' && <RestrictAll name={name} close={close} />}
    </MayChange>
  );
}

const MAX_LOG_RANGE = number('Max blocks per eth_getLogs (empty: unchanged)');

/** Empty fields stay as they are: keys may differ. What is chosen to be lifted is lifted for all. */
function RestrictAll({ name, close }: { name: string; close: () => void }) {
  const restrictions = useRestrictions();
  const fields = useIsOwner() ? restrictions : { ...restrictions, maxLogRange: MAX_LOG_RANGE };
  return (
    <ChangeForm
      name="applications/restrict"
      submit="Restrict"
      fields={fields}
      getInput={(form, read) => {
        const lifted = form.getAll('lifted').map(String);
        const given = Object.entries(read).filter(
          ([field, value]) =>
            (Array.isArray(value) ? value.length > 0 : value !== null) || lifted.includes(field),
        );
        if (given.length === 0) throw new Error('Enter at least one restriction.');
        return { application: name, ...Object.fromEntries(given) };
      }}
      done={close}
      cancel={close}
    >
      <p class="faint">Applies to every key that is not revoked. Empty fields stay as they are.</p>
      <fieldset>
        <legend>Allow all, if left empty</legend>
        {Object.keys(restrictions).map((field) => (
          <label key={field} class="inline">
            <input type="checkbox" name="lifted" value={field} /> {field}
          </label>
        ))}
      </fieldset>
    </ChangeForm>
  );
}
