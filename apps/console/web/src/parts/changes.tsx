import type { ComponentChildren } from 'preact';
import type { Answer, Input, OperationName } from '../lib/answers.js';
import { change } from '../lib/api.js';
import { onForm } from '../lib/form-values.js';
import { useIsOperator, useMayChange } from '../lib/use-session.js';
import { useTask } from '../lib/use-task.js';
import { Button } from './button.js';
import { FieldErrorsContext, toFieldErrors } from './fields.js';
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
  subject?: string;
  done?: (result: Answer<N>) => void;
}

/**
 * A button that changes something, for those who may: asks first if `confirm` is given, shows an error beside itself, and
 * reads again what is shown around it.
 */
export function ActionButton<N extends OperationName>(
  given: ChangeProps<N> & {
    children: string;
    input: Input<N>;
    confirm?: string | undefined;
    /** Why it cannot be pressed. */
    refused?: string | undefined;
  },
) {
  const { children, name, input, confirm, refused, subject, done } = given;
  const { busy, error, run } = useTask();
  const reload = useReload();
  if (!useMayChange()) return null;
  const press = (): void => {
    if (confirm !== undefined && !window.confirm(confirm)) return;
    void run(async () => {
      const result = await change(name, input);
      done?.(result);
      reload();
    });
  };
  return (
    <>
      <Button busy={busy} disabled={refused !== undefined} title={refused} onClick={press}>
        {children}
      </Button>
      {error !== null && <Problem error={error} subject={subject} />}
    </>
  );
}

/**
 * A form that changes something. `getInput` makes the input from its fields; an Error that it throws is shown. The
 * fields keep their values if the change fails, also if the session has ended meanwhile; else what is shown around it is
 * read again.
 */
export function ChangeForm<N extends OperationName>(
  given: ChangeProps<N> & {
    /** The label of its button. */
    submit: string;
    /** Asked first. */
    confirm?: string | undefined;
    getInput: (form: FormData) => Input<N>;
    cancel?: (() => void) | undefined;
    children: ComponentChildren;
  },
) {
  const { name, submit, confirm, getInput, done, cancel, subject, children } = given;
  const { busy, error, run } = useTask();
  const reload = useReload();
  const send = onForm((fields, form) => {
    if (confirm !== undefined && !window.confirm(confirm)) return;
    void run(async () => {
      const result = await change(name, getInput(fields));
      form.reset();
      done?.(result);
      reload();
    });
  });
  return (
    <form onSubmit={send}>
      <FieldErrorsContext.Provider value={toFieldErrors(error)}>{children}</FieldErrorsContext.Provider>
      <p class="actions">
        <Button type="submit" busy={busy}>
          {submit}
        </Button>
        {cancel !== undefined && (
          <button type="button" onClick={cancel}>
            Cancel
          </button>
        )}
      </p>
      {error !== null && <Problem error={error} subject={subject} />}
    </form>
  );
}
