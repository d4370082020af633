import { useState } from 'preact/hooks';
import { toLines, toNumber, toText } from '../../lib/form-values.js';
import { pluralize } from '../../lib/format.js';
import { useIsOwner } from '../../lib/use-session.js';
import { ActionButton, ChangeForm, MayChange, OperatorsOnly } from '../../parts/changes.js';
import { Field, LinesField, NumberField } from '../../parts/fields.js';
import { type Application, toApplication } from './application.js';
import { OF_OWNERS, RESTRICTIONS } from './key-fields.js';

/** The form for an application; its page opens then. */
export const NewApplication = () => (
  <details>
    <summary>New application</summary>
    <ChangeForm
      name="applications/add"
      submit="Create"
      getInput={(form) => ({ name: toText(form, 'name'), ...getTerms(form) })}
      done={({ name }) => {
        location.hash = toApplication(name);
      }}
    >
      <Field label="Name (cannot be changed later)" name="name" required maxLength={100} />
      <Terms row={null} />
    </ChangeForm>
  </details>
);

/** Changes an application, all its keys at once, or ends it. */
export function ApplicationActions({ row }: { row: Application }) {
  const [shown, show] = useState<'edit' | 'restrict' | null>(null);
  const close = (): void => show(null);
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
          getInput={(form) => {
            const { owner, ...others } = getTerms(form);
            const { description, contact } = row;
            // An owner has no field for it.
            const given = form.has('owner') ? { owner } : {};
            const expected = { owner: row.owner, description, contact };
            return { application: name, ...others, ...given, expected };
          }}
          done={close}
          cancel={close}
        >
          <Terms row={row} />
        </ChangeForm>
      )}
      {shown === 'restrict' && <RestrictAll name={name} close={close} />}
    </MayChange>
  );
}

/** Empty fields stay as they are: keys may differ. What is chosen to be lifted is lifted for all. */
function RestrictAll({ name, close }: { name: string; close: () => void }) {
  const isOwner = useIsOwner();
  const fields = isOwner ? OF_OWNERS : RESTRICTIONS;
  return (
    <ChangeForm
      name="applications/restrict"
      submit="Restrict"
      getInput={(form) => {
        const lists = fields.flatMap(({ name: field }) => {
          const lines = toLines(form, field);
          return lines.length > 0 || form.has(`${field}Lifted`) ? [[field, lines] as const] : [];
        });
        const range = toNumber(form, 'maxLogRange');
        if (lists.length === 0 && range === null) throw new Error('Enter at least one restriction.');
        const maxLogRange = range === null ? {} : { maxLogRange: range };
        return { application: name, ...Object.fromEntries(lists), ...maxLogRange };
      }}
      done={close}
      cancel={close}
    >
      <p class="faint">Applies to every key that is not revoked. Empty fields stay as they are.</p>
      {fields.map(({ name: field, label, placeholder }) => (
        <fieldset key={field}>
          <legend>{label}</legend>
          <LinesField label={label} name={field} placeholder={placeholder} />
          <label class="inline">
            <input type="checkbox" name={`${field}Lifted`} /> Allow all if left empty
          </label>
        </fieldset>
      ))}
      {!isOwner && <NumberField label="Max blocks per eth_getLogs (empty: unchanged)" name="maxLogRange" />}
    </ChangeForm>
  );
}

const Terms = ({ row }: { row: Application | null }) => (
  <div class="form-grid">
    <OperatorsOnly>
      <Field
        label="Owner (an account; empty: none)"
        name="owner"
        maxLength={200}
        defaultValue={row?.owner ?? ''}
        autocomplete="off"
      />
    </OperatorsOnly>
    <Field label="Contact" name="contact" maxLength={200} defaultValue={row?.contact ?? ''} />
    <Field label="Description" name="description" maxLength={1_000} defaultValue={row?.description ?? ''} />
  </div>
);

const getTerms = (form: FormData) => ({
  owner: toText(form, 'owner') ?? null,
  description: toText(form, 'description') ?? '',
  contact: toText(form, 'contact') ?? '',
});
