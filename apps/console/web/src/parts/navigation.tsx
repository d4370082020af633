import { onForm, toText } from '../lib/form-values.js';
import { useIsOwner } from '../lib/hooks/use-session.js';
import type { Query } from '../lib/query.js';
import { toHref } from '../lib/route.js';
import { MayChange } from './changes.js';

/** A link that looks like a button. */
export const ButtonLink = ({ label, href }: { label: string; href: string }) => (
  <a class="button" href={href}>
    {label}
  </a>
);

/** The log of the changes of a thing; owners do not read it. */
export const ChangeLogLink = ({ subject }: { subject: string }) =>
  useIsOwner() ? null : <a href={toHref('changes', { subject })}>Audit log</a>;

export const NewBackfillButton = ({ query = {} }: { query?: Query }) => (
  <MayChange>
    <a class="main" href={toHref('backfills/new', query)}>
      New backfill
    </a>
  </MayChange>
);

/** A field whose text becomes part of the address. */
export function SearchForm(given: {
  path: string;
  name: string;
  value: string | undefined;
  label: string;
  submit: string;
  placeholder?: string;
  /** Other fields of the address. */
  query?: Query;
}) {
  const { path, name, value, label, submit, placeholder, query } = given;
  const search = onForm((form) => {
    location.hash = toHref(path, { ...query, [name]: toText(form, name) });
  });
  return (
    <form onSubmit={search} class="actions">
      <label>
        {label}{' '}
        <input
          type="search"
          name={name}
          key={value}
          defaultValue={value}
          placeholder={placeholder}
          maxLength={300}
        />
      </label>
      <button type="submit">{submit}</button>
      {value !== undefined && <a href={toHref(path, query)}>Clear</a>}
    </form>
  );
}
