import { useState } from 'preact/hooks';
import { ApiError, change } from '../lib/api.js';
import { Problem } from './states.js';

/** A button that changes something: asks first if `confirm` is given, shows what went wrong beside itself. */
export function ActionButton(given: {
  children: string;
  name: string;
  input: object;
  confirm?: string;
  /** What it changes, as the log of actions names it. */
  subject?: string;
  done?: (result: unknown) => void;
}) {
  const { children, name, input, confirm, subject, done } = given;
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const press = async (): Promise<void> => {
    if (confirm !== undefined && !window.confirm(confirm)) return;
    setBusy(true);
    setError(null);
    try {
      done?.(await change(name, input));
    } catch (problem) {
      if (!(problem instanceof ApiError)) throw problem;
      setError(problem);
    }
    setBusy(false);
  };
  return (
    <>
      <button type="button" disabled={busy} onClick={press}>
        {children}
      </button>
      {error !== null && <Problem error={error} subject={subject} />}
    </>
  );
}
