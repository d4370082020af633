import { type ComponentProps, Fragment, type JSX } from 'preact';
import { toNumber, toText } from '../lib/form-values.js';
import { toLocalIso } from '../lib/format.js';
import { Field, FieldError, KINDS, LabelText, type Option, OptionList, useFieldError } from './fields.js';
import { WindowsEditor } from './windows-editor.js';

/** A field of a form as data: how it shows a value, and what is read from it; `before` is the value that it showed. */
interface FormField {
  show(name: string, value: unknown): JSX.Element;
  read(form: FormData, name: string, before: unknown): unknown;
}
/** The fields of a form, by what the operation calls them. */
export type FormFields = Readonly<Record<string, FormField>>;
type Values = Readonly<Record<string, unknown>>;

interface TextInput {
  type?: 'url' | 'password';
  required?: boolean;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  placeholder?: string;
  title?: string;
  autocomplete?: 'off' | 'new-password';
}

/** A text. `initial`: of something new; `empty`: what is sent if there is none. */
export function text(
  label: string,
  { initial = '', empty, ...input }: TextInput & { initial?: string; empty?: string | null } = {},
): FormField {
  return {
    show: (name, value) => (
      <Field {...(input as object)} label={label} name={name} defaultValue={String(value ?? initial)} />
    ),
    read: (form, name) => toText(form, name) ?? empty,
  };
}

/** A number; null if it is empty. `initial`: of something new; `scale`: what is shown of a value of 1. */
export function number(
  label: string,
  given: {
    decimal?: boolean;
    required?: boolean;
    /** With arrows, and bounds. */
    range?: readonly [min: number, max: number];
    initial?: number;
    scale?: number;
  } = {},
): FormField {
  const { decimal = false, initial = '', range, required, scale = 1 } = given;
  const input =
    range === undefined
      ? { inputMode: decimal ? 'decimal' : 'numeric', pattern: decimal ? '[0-9_,.]*' : '[0-9_,]*' }
      : { type: 'number', min: range[0], max: range[1] };
  return {
    show: (name, value) => (
      <Field
        {...(input as object)}
        label={label}
        name={name}
        required={required}
        defaultValue={typeof value === 'number' ? value * scale : String(value ?? initial)}
      />
    ),
    read(form, name) {
      const value = toNumber(form, name);
      return value === null ? null : value / scale;
    },
  };
}

/** Several values, one per line; `empty` says what none means. */
export const lines = (label: string, placeholder: string, empty?: string): FormField => ({
  show: (name, value) => (
    <Lines
      label={`${label} (one per line${empty === undefined ? '' : `; empty: ${empty}`})`}
      name={name}
      placeholder={placeholder}
      defaultValue={((value ?? []) as string[]).join('\n')}
    />
  ),
  read: (form, name) => toLines(form, name),
});

/** Numbers by name, as lines `name=number`. */
export const pairs = (label: string, placeholder: string): FormField => ({
  show: (name, value) => lines(label, placeholder).show(name, toPairLines((value ?? {}) as Pairs)),
  read: (form, name) =>
    Object.fromEntries(
      toLines(form, name)
        .map((line) => line.split('='))
        .map(([key = '', value]) => [key.trim(), Number(value)]),
    ),
});

type Pairs = Readonly<Record<string, number>>;

/** Numbers by name as lines `name=number`. */
export const toPairLines = (numbers: Pairs): string[] =>
  Object.entries(numbers).map(([name, value]) => `${name}=${value}`);

/** The lines of a field that are not empty; commas separate too, unless `between` is given. */
function toLines(form: FormData, name: string, between: string | RegExp = /[\n,]/): string[] {
  const found = (toText(form, name) ?? '').split(between).map((line) => line.trim());
  return found.filter((line) => line !== '');
}

function Lines({ label, name, ...area }: { label: string; name: string } & ComponentProps<'textarea'>) {
  const isWrong = useFieldError(name) !== undefined;
  return (
    <label>
      <LabelText text={label} />
      <textarea {...area} name={name} rows={3} aria-invalid={isWrong ? true : undefined} />
      <FieldError name={name} />
    </label>
  );
}

/** One of a few; null if it is the empty one. */
export const choice = (label: string, options: readonly Option[]): FormField => ({
  show: (name, value) => (
    <label>
      {label}{' '}
      <select name={name}>
        <OptionList options={options} value={(value ?? undefined) as string | undefined} />
      </select>
    </label>
  ),
  read: (form, name) => toText(form, name) ?? null,
});

/** Yes or no. */
export const checkbox = (label: string): FormField => ({
  show: (name) => (
    <label class="inline">
      <input type="checkbox" name={name} /> {label}
    </label>
  ),
  read: (form, name) => form.has(name),
});

/** The kinds of data, as boxes. */
export const kinds: FormField = {
  show: (_, checked) => (
    <fieldset>
      <legend>Kinds</legend>
      {KINDS.map((kind) => (
        <label key={kind} class="inline">
          <input
            type="checkbox"
            name="kind"
            value={kind}
            defaultChecked={(checked as string[]).includes(kind)}
          />{' '}
          {kind}{' '}
        </label>
      ))}
    </fieldset>
  ),
  read: (form) => form.getAll('kind').map(String),
};

/** Hours of the week. */
export const windows = (legend?: string): FormField => ({
  show: (_, value) => <WindowsEditor initial={(value ?? []) as string[]} {...(legend ? { legend } : {})} />,
  read: (form) => toLines(form, 'windows', '\n'),
});

/** A point in time in the zone of the browser: to the minute, or the end of a day. One that was not touched stays as it is. */
export function time(label: string, type: 'datetime-local' | 'date'): FormField {
  const toField = (value: unknown): string =>
    typeof value === 'string' ? toLocalIso(value).slice(0, type === 'date' ? 10 : 16) : '';
  return {
    show: (name, value) => <Field label={label} name={name} type={type} defaultValue={toField(value)} />,
    read(form, name, before) {
      const given = toText(form, name);
      if ((given ?? '') === toField(before)) return before ?? null;
      return given === undefined
        ? null
        : new Date(type === 'date' ? `${given}T23:59:59` : given).toISOString();
    },
  };
}

/** Shows fields, the short ones beside each other. */
export const FieldList = ({ fields, values }: { fields: FormFields; values: Values }) => (
  <div class="form-grid">
    {Object.entries(fields).map(([name, field]) => (
      <Fragment key={name}>{field.show(name, values[name])}</Fragment>
    ))}
  </div>
);

/** What the fields of a form have, as far as it differs from what they showed. */
export function readFields(form: FormData, fields: FormFields, before: Values = {}): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]) => {
      const value = field.read(form, name, before[name]);
      return JSON.stringify(value) === JSON.stringify(before[name]) ? [] : [[name, value]];
    }),
  );
}

/** The values that fields show, as they were read: with them, a change does not overwrite that of another operator. */
export const getShown = (fields: FormFields, row: Values): Record<string, unknown> =>
  Object.fromEntries(Object.keys(fields).flatMap((name) => (name in row ? [[name, row[name]]] : [])));
