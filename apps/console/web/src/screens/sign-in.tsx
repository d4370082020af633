import { useEffect, useState } from 'preact/hooks';
import { ApiError, readSignInWays, type Session, type SignInWays, signIn } from '../lib/api.js';
import { onForm } from '../lib/form-values.js';
import { useTask } from '../lib/hooks/use-task.js';
import { useRoute } from '../lib/route.js';
import { Button } from '../parts/button.js';
import { Field } from '../parts/fields.js';
import { Problem } from '../parts/states.js';

/** Signs in by the link of the address, at a provider, by name and password, or by an API key. */
export function SignIn({ done }: { done: (session: Session) => void }) {
  const { path } = useRoute();
  const { busy, error, run } = useTask();
  const send = (given: object): Promise<void> => run(async () => done(await signIn(given)));
  const link = path.startsWith('link/') ? path.slice('link/'.length) : null;
  useEffect(() => {
    if (link === null) return;
    // The link is used up: it does not stay in the history.
    location.replace('#/');
    void send({ link });
  }, [link]);
  const [ways, setWays] = useState<SignInWays>({ password: true, oidc: null });
  useEffect(() => {
    // Without an answer the forms say what is wrong.
    readSignInWays().then(setWays, () => undefined);
  }, []);
  const submit = onForm((form) => void send(Object.fromEntries(form)));
  return (
    <main class="sign-in">
      <h1>Packhouse</h1>
      {error !== null && <Problem error={error} />}
      <OidcSignIn oidc={ways.oidc} />
      {ways.password && (
        <form onSubmit={submit}>
          <h2>Operator sign-in</h2>
          <Field label="Name" name="name" autocomplete="username" required maxLength={200} />
          <Field
            label="Password"
            name="password"
            type="password"
            autocomplete="current-password"
            required
            maxLength={1_024}
          />
          <Button type="submit" busy={busy}>
            Sign in
          </Button>
          <p>
            No password? Run <code>packhouse operators link NAME</code> for a one-time link.
          </p>
        </form>
      )}
      <form onSubmit={submit}>
        <h2>API key sign-in</h2>
        <Field label="API key" name="key" type="password" autocomplete="off" required maxLength={256} />
        <Button type="submit" busy={busy}>
          View usage
        </Button>
      </form>
    </main>
  );
}

/** The button that leads to the provider, and why it cannot be used or failed last. */
function OidcSignIn({ oidc }: { oidc: SignInWays['oidc'] }) {
  if (oidc === null) return null;
  const { label, problem, unavailable } = oidc;
  return (
    <form>
      {problem !== null && (
        <Problem error={new ApiError(401, problem.code, problem.message, problem.hint, {})} />
      )}
      {problem === null && unavailable !== null && <p>{unavailable}</p>}
      {/* Not sent as a form: the policy lets forms lead to the console only. */}
      <button type="button" onClick={() => location.assign('/api/sign-in/oidc')}>
        Sign in with {label}
      </button>
    </form>
  );
}
