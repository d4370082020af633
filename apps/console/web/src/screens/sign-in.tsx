import { useEffect, useState } from 'preact/hooks';
import { ApiError, type Session, signIn } from '../lib/api.js';
import { useRoute } from '../lib/route.js';
import { Problem } from '../parts/states.js';

/** Signs in by the link of the address, by name and password, or by an API key. */
export function SignIn({ done }: { done: (session: Session) => void }) {
  const { path } = useRoute();
  const [error, setError] = useState<ApiError | null>(null);
  const [busy, setBusy] = useState(false);
  const send = async (given: object): Promise<void> => {
    setBusy(true);
    setError(null);
    try {
      done(await signIn(given));
    } catch (problem) {
      if (!(problem instanceof ApiError)) throw problem;
      setError(problem);
    }
    setBusy(false);
  };
  const link = path.startsWith('link/') ? path.slice('link/'.length) : null;
  useEffect(() => {
    if (link === null) return;
    // The link is used up: it does not stay in the history.
    location.replace('#/');
    void send({ link });
  }, [link]);
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    void send(Object.fromEntries(form));
  };
  return (
    <main class="sign-in">
      <h1>Packhouse</h1>
      {error !== null && <Problem error={error} />}
      <form onSubmit={submit}>
        <h2>Operators</h2>
        <label>
          Name <input name="name" autocomplete="username" required maxLength={200} />
        </label>
        <label>
          Password
          <input name="password" type="password" autocomplete="current-password" required maxLength={1_024} />
        </label>
        <button type="submit" disabled={busy}>
          Sign in
        </button>
        <p>
          Without a password: <code>packhouse operators link NAME</code> prints a link for one use.
        </p>
      </form>
      <form onSubmit={submit}>
        <h2>Holders of a key</h2>
        <label>
          API key <input name="key" type="password" autocomplete="off" required maxLength={256} />
        </label>
        <button type="submit" disabled={busy}>
          See its usage
        </button>
      </form>
    </main>
  );
}
