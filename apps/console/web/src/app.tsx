import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import { type ApiError, onSessionEnd, readSession, type Session, signOut } from './lib/api.js';
import { SessionContext } from './lib/hooks/use-session.js';
import { useRoute } from './lib/route.js';
import { SCREENS, type ScreenEntry } from './parts/screens.js';
import { Problem } from './parts/states.js';
import { ShownScreen } from './screens/shown-screen.js';
import { SignIn } from './screens/sign-in.js';
import { useShortcuts } from './shell/shortcuts.js';
import { Sidebar } from './shell/sidebar.js';

/** The screen of an API key, and that of an account that owns applications. */
const OWN: ScreenEntry = { path: 'own', title: 'Your key', group: '', icon: 'keys' };
const OWNED: ScreenEntry = { path: 'keys', title: 'Applications', group: '', icon: 'keys' };

/** Pause between two attempts to reach the console. */
const RETRY_MS = 3_000;

/** The session, the menu, and the screen of the address. */
export function App() {
  const [session, setSession] = useState<Session | null | undefined>(undefined);
  /** The session has ended: the screen and what was entered stay until the next sign-in. */
  const [expired, setExpired] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const { path, parts } = useRoute();
  // Before the first paint, which costs a frame: the answer may be there.
  useLayoutEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const load = (): void => {
      readSession().then(
        (found) => {
          setError(null);
          setSession(found);
        },
        (problem: ApiError) => {
          setError(problem);
          timer = setTimeout(load, RETRY_MS);
        },
      );
    };
    // The answer to a request from before a new sign-in ends nothing.
    onSessionEnd(() => {
      readSession().then(
        (found) => setExpired(found === null),
        () => undefined,
      );
    });
    load();
    return () => clearTimeout(timer);
  }, []);

  // An unused link does not stay in the address.
  const unused = session !== null && session !== undefined && path.startsWith('link/');
  useEffect(() => {
    if (unused) location.replace('#/');
  }, [unused]);

  const isOwner = session?.role === 'owner';
  const { dialogs, find } = useShortcuts(session !== null && session !== undefined && !isOwner && !expired);
  if (session === undefined) {
    return <main>{error === null ? <p class="waiting">Loading…</p> : <Problem error={error} />}</main>;
  }
  const signedIn = (found: Session): void => {
    setSession(found);
    setExpired(false);
  };
  if (session === null) return <SignIn done={signedIn} />;
  const screens = isOwner ? [session.isKey ? OWN : OWNED] : SCREENS;
  const screen =
    screens.find(({ path: each }) => each === parts[0] && each !== 'jobs') ?? (screens[0] as ScreenEntry);
  const leave = (): void => void signOut().finally(() => setSession(null));
  return (
    <SessionContext.Provider value={session}>
      {expired && <SignIn done={signedIn} />}
      <div hidden={expired} key={`${session.role} ${session.name}`} class="shell">
        <button type="button" class="unseen" onClick={() => document.getElementById('main')?.focus()}>
          Skip to content
        </button>
        <Sidebar screens={screens} shown={screen} session={session} find={find} leave={leave} />
        <main id="main" tabIndex={-1}>
          <ShownScreen path={screen.path} />
        </main>
        {dialogs}
      </div>
    </SessionContext.Provider>
  );
}
