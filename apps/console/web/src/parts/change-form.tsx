import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { ApiError, change } from '../lib/api.js';
import { Problem } from './states.js';

/**
 * A form that changes something. `inputOf` makes the input from its fields; text that it throws as an Error is shown.
 * What was entered stays when the change fails, also when the session has ended meanwhile.
 */
export function ChangeForm<T>(given: {
  name: string;
  /** What the button says. */
  submit: string;
  inputOf: (form: FormData) => object;
  done: (result: T) => void;
  /** What it changes, as the log of actions names it: shown with who changed it, if another one did meanwhile. */
  subject?: string;
  children: ComponentChildren;
}) {
  const { name, submit, inputOf, done, subject, children } = given;
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const send = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    setBusy(true);
    setError(null);
    try {
      const result = await change<T>(name, inputOf(new FormData(form)));
      form.reset();
      done(result);
    } catch (problem) {
      setError(
        problem instanceof ApiError
          ? problem
          : new ApiError(400, 'INPUT_INVALID', (problem as Error).message, undefined, {}),
      );
    }
    setBusy(false);
  };
  return (
    <form onSubmit={send}>
      {children}
      <p>
        <button type="submit" disabled={busy}>
          {submit}
        </button>
      </p>
      {error !== null && <Problem error={error} subject={subject} />}
    </form>
  );
}

/** The text of a field without spaces around; undefined: it is empty. */
export function textOf(form: FormData, field: string): string | undefined {
  const value = form.get(field);
  const text = typeof value === 'string' ? value.trim() : '';
  return text === '' ? undefined : text;
}

/** The lines of a field that are not empty; undefined: there is none. */
export function linesOf(form: FormData, field: string): string[] | undefined {
  const lines = (textOf(form, field) ?? '').split(/[\n,]/).map((line) => line.trim());
  const found = lines.filter((line) => line !== '');
  return found.length === 0 ? undefined : found;
}
