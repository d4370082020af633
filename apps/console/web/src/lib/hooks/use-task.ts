import { useState } from 'preact/hooks';
import { ApiError } from '../api.js';

/** Something that a button or a form starts: whether it runs, and why it failed last. */
interface Task {
  busy: boolean;
  error: ApiError | null;
  run(work: () => Promise<void>): Promise<void>;
}

/** Errors of the input (any other Error) are shown like those of the console; what was aborted is no error. */
export function useTask(): Task {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const run = async (work: () => Promise<void>): Promise<void> => {
    setBusy(true);
    setError(null);
    try {
      await work();
    } catch (problem) {
      const isAborted = problem instanceof DOMException && problem.name === 'AbortError';
      setError(
        isAborted
          ? null
          : problem instanceof ApiError
            ? problem
            : new ApiError(400, 'INPUT_INVALID', (problem as Error).message, undefined, {}),
      );
    }
    setBusy(false);
  };
  return { busy, error, run };
}
