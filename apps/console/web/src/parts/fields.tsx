import { type ComponentProps, createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { ApiError } from '../lib/api.js';

/** An input with its label; what the label has in brackets is a note. */
export const Field = ({ label, ...input }: ComponentProps<'input'> & { label: string }) => (
  <label>
    <LabelText text={label} />{' '}
    <input {...input} aria-invalid={useFieldError(input.name) === undefined ? undefined : true} />
    <FieldError name={input.name} />
  </label>
);

export function LabelText({ text }: { text: string }) {
  const at = text.indexOf(' (');
  if (at === -1) return <>{text}</>;
  return (
    <>
      {text.slice(0, at)} <span class="hint">{text.slice(at + 1)}</span>
    </>
  );
}

export const KINDS = ['blocks', 'transactions', 'receipts', 'logs', 'traces'];

/** Values, or values with their labels; one that cannot be chosen tells why in its label. */
export type Option = string | readonly [value: string, label: string, disabled?: boolean];

/** No choice. */
export const ALL: Option = ['', 'All'];

interface SelectProps {
  label: string;
  options: readonly Option[];
  value?: string | undefined;
}

/** A choice that takes effect at once. */
export const Select = ({ label, choose, ...choice }: SelectProps & { choose: (value: string) => void }) => (
  <label class="inline">
    {label}{' '}
    <select value={choice.value} onChange={(event) => choose(event.currentTarget.value)}>
      <OptionList {...choice} />
    </select>
  </label>
);

export const OptionList = ({ options, value: chosen }: Omit<SelectProps, 'label'>) => (
  <>
    {options.map((option) => {
      const [value, label, disabled] = typeof option === 'string' ? [option, option] : option;
      return (
        <option key={value} value={value} selected={value === chosen} disabled={disabled}>
          {label}
        </option>
      );
    })}
  </>
);

/** The last so many days, as `since` of an operation. */
export const toPeriods = (days: readonly number[]): Option[] =>
  days.map((each) => [`${each}d`, each === 1 ? 'day' : `${each} days`]);

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
