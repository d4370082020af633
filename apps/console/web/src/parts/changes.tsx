import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Answer, Input, OperationName } from '../lib/answers.js';
import { change } from '../lib/api.js';
import { onForm } from '../lib/form-values.js';
import { useIsOperator, useMayChange } from '../lib/hooks/use-session.js';
import { useTask } from '../lib/hooks/use-task.js';
import { Button } from './button.js';
import { FieldErrorsContext, toFieldErrors } from './fields.js';
import { FieldList, type FormFields, getShown, readFields } from './form-fields.js';
import { Problem, useReload } from './states.js';

/** What those see who may change what is shown. */
export const MayChange = ({ children }: { children: ComponentChildren }) => <>{useMayChange() && children}</>;

/** What only operators and admins see. */
export const OperatorsOnly = ({ children }: { children: ComponentChildren }) => (
  <>{useIsOperator() && children}</>
);

interface ChangeProps<N extends OperationName> {
  name: N;
  /** What it changes, as the change log names it: shown with its author if another operator changed it meanwhile. */
  subject?: string | undefined;
  /** Asked first. */
  confirm?: string | undefined;
  done?: ((result: Answer<N>) => void) | undefined;
}

/** Asks, changes something, and reads again what is shown around; whether that runs, and the error of the last one. */
export function useChange<N extends OperationName>({ name, confirm, done }: ChangeProps<N>) {
  const { busy, error, run } = useTask();
  const reload = useReload();
  /** `getInput` may throw an Error, which is shown; `changed` is called first. */
  const start = (getInput: () => Input<N>, changed?: () => void): void => {
    if (confirm !== undefined && !window.confirm(confirm)) return;
    void run(async () => {
      const result = await change(name, getInput());
      changed?.();
      done?.(result);
      reload();
    });
  };
  return { busy, error, start };
}

/** A button that changes something, for those who may; an error is shown beside it. */
export function ActionButton<N extends OperationName>(
  given: ChangeProps<N> & {
    children: string;
    input: Input<N>;
    /** Why it cannot be pressed. */
    refused?: string | undefined;
  },
) {
  const { children, input, refused, subject } = given;
  const { busy, error, start } = useChange(given);
  if (!useMayChange()) return null;
  return (
    <>
      <Button busy={busy} disabled={refused !== undefined} title={refused} onClick={() => start(() => input)}>
        {children}
      </Button>
      {error !== null && <Problem error={error} subject={subject} />}
    </>
  );
}

interface FormProps<N extends OperationName> extends ChangeProps<N> {
  /** The label of its button. */
  submit: string;
  /** What it sends beside its fields. */
  input?: Input<N>;
  fields?: FormFields;
  /**
   * What it changes, as it is when the form opens: only fields that differ are sent, for a server that refuses if one has
   * changed since. Without it something is created.
   */
  row?: object | null;
  /** What fields show of something new. */
  defaults?: object;
  /** The input by what the fields have; an Error that it throws is shown. */
  getInput?: (form: FormData, read: Record<string, unknown>) => Input<N>;
  cancel?: (() => void) | undefined;
  children?: ComponentChildren;
}

/**
 * A form that changes something. The fields keep their values if the change fails, also if the session has ended meanwhile;
 * else what is shown around it is read again.
 */
export function ChangeForm<N extends OperationName>(given: FormProps<N>) {
  const { submit, input, fields = {}, defaults = {}, cancel, subject, children } = given;
  const [row] = useState(given.row ?? null);
  const { getInput = (_, read) => read as Input<N> } = given;
  const { busy, error, start } = useChange(given);
  const values = (row ?? defaults) as Record<string, unknown>;
  const send = onForm((form, element) =>
    start(
      () => {
        const read = readFields(form, fields, row === null ? {} : values);
        const expected = row === null ? {} : { expected: getShown(fields, values) };
        return { ...expected, ...input, ...getInput(form, read) };
      },
      () => element.reset(),
    ),
  );
  return (
    <form onSubmit={send}>
      <FieldErrorsContext.Provider value={toFieldErrors(error)}>
        {children}
        {Object.keys(fields).length > 0 && <FieldList fields={fields} values={values} />}
      </FieldErrorsContext.Provider>
      <p class="actions">
        <Button type="submit" busy={busy}>
          {submit}
        </Button>
        {cancel !== undefined && <Button onClick={cancel}>Cancel</Button>}
      </p>
      {error !== null && <Problem error={error} subject={subject} />}
    </form>
  );
}

/** A form for something new, which opens. */
export const NewForm = <N extends OperationName>({ title, ...form }: FormProps<N> & { title: string }) => (
  <details>
    <summary>{title}</summary>
    <ChangeForm {...form} />
  </details>
);

/** A button that opens the form of a change. */
export function EditForm<N extends OperationName>(
  given: FormProps<N> & { label?: string; isOpen?: boolean },
) {
  const { label = 'Edit', isOpen = false, ...form } = given;
  const [shown, show] = useState(isOpen);
  const close = (): void => show(false);
  return shown ? (
    <>
      <h2>{label}</h2>
      <ChangeForm {...form} done={close} cancel={close} />
    </>
  ) : (
    <p>
      <Button onClick={() => show(true)}>{label}</Button>
    </p>
  );
}
