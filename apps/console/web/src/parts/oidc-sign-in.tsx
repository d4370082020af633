import { ApiError, type SignInWays } from '../lib/api.js';
import { Problem } from './states.js';

/** The button that leads to the provider, and why it cannot be used or failed last. */
export function OidcSignIn({ oidc }: { oidc: SignInWays['oidc'] }) {
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
