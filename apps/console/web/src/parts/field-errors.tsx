import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { ApiError } from '../lib/api.js';

type FieldErrors = Readonly<Record<string, string>>;

/** What is wrong with the fields of a form, by name. */
export const FieldErrorsContext = createContext<FieldErrors>({});

/** What an error says of each field; of a field with parts (`weights.eth_call`) at the field. */
export function toFieldErrors(error: ApiError | null): FieldErrors {
  const fields = error?.data.fields;
  if (!Array.isArray(fields)) return {};
  const said = fields.flatMap((each: { name?: unknown; message?: unknown }): [string, string][] =>
    typeof each.name === 'string' && typeof each.message === 'string'
      ? [[each.name.split('.')[0] ?? '', each.message]]
      : [],
  );
  // The first that is wrong with it.
  return Object.fromEntries(said.reverse());
}

/** What is wrong with a field, below it; the field itself takes `useFieldError` as `aria-invalid`. */
export function FieldError({ name }: { name: unknown }) {
  const text = useFieldError(name);
  if (text === undefined) return null;
  return (
    <small class="bad field-error">
      {text.slice(0, 1).toUpperCase()}
      {text.slice(1)}.
    </small>
  );
}

export function useFieldError(name: unknown): string | undefined {
  const errors = useContext(FieldErrorsContext);
  return typeof name === 'string' ? errors[name] : undefined;
}
