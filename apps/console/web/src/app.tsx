import type { FunctionComponent } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { type ApiError, onSessionEnd, readSession, type Session, signOut } from './lib/api.js';
import { toHref, useRoute } from './lib/route.js';
import { SessionContext } from './lib/use-session.js';
import { Problem } from './parts/states.js';
import { Alarms } from './screens/alarms.js';
import { Backfills } from './screens/backfills/backfills.js';
import { Spending } from './screens/budgets/spending.js';
import { Changes } from './screens/changes.js';
import { Coverage } from './screens/coverage/coverage.js';
import { Files } from './screens/files/files.js';
import { Keys } from './screens/keys/keys.js';
import { Own } from './screens/keys/own.js';
import { Nodes } from './screens/nodes.js';
import { Overview } from './screens/overview.js';
import { Quarantine } from './screens/quarantine/quarantine.js';
import { Schedules } from './screens/schedules.js';
import { SignIn } from './screens/sign-in.js';
import { Workers } from './screens/workers.js';

interface Screen {
  /** The first part of its path. */
  path: string;
  title: string;
  show: FunctionComponent;
}

/** The screens of operators, in the order of the menu; the first one is shown first. */
const SCREENS: readonly Screen[] = [
  { path: 'overview', title: 'Overview', show: Overview },
  { path: 'coverage', title: 'Coverage', show: Coverage },
  { path: 'backfills', title: 'Backfills', show: Backfills },
  { path: 'schedules', title: 'Schedules', show: Schedules },
  { path: 'budgets', title: 'Budgets', show: Spending },
  { path: 'quarantine', title: 'Quarantine', show: Quarantine },
  { path: 'files', title: 'Files', show: Files },
  { path: 'keys', title: 'Keys', show: Keys },
  { path: 'workers', title: 'Workers', show: Workers },
  { path: 'nodes', title: 'Nodes', show: Nodes },
  { path: 'alarms', title: 'Alarms', show: Alarms },
  { path: 'changes', title: 'Log', show: Changes },
];
/** The screen of an API key. */
const OWN_SCREENS: readonly Screen[] = [{ path: 'own', title: 'Your key', show: Own }];

/** Pause between two attempts to reach the console. */
const RETRY_MS = 3_000;

/** The session, the menu, and the screen of the address. */
export function App() {
  const [session, setSession] = useState<Session | null | undefined>(undefined);
  /** The session has ended: the screen and what was entered stay until the next sign-in. */
  const [expired, setExpired] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const { path, parts } = useRoute();
  useEffect(() => {
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

  if (session === undefined) {
    return <main>{error === null ? <p class="waiting">Loading…</p> : <Problem error={error} />}</main>;
  }
  const signedIn = (found: Session): void => {
    setSession(found);
    setExpired(false);
  };
  if (session === null) return <SignIn done={signedIn} />;
  const screens = session.role === 'owner' ? OWN_SCREENS : SCREENS;
  const screen = screens.find((each) => each.path === parts[0]) ?? (screens[0] as Screen);
  const leave = (): void => void signOut().finally(() => setSession(null));
  return (
    <SessionContext.Provider value={session}>
      {expired && <SignIn done={signedIn} />}
      <div hidden={expired} key={`${session.role} ${session.name}`}>
        <a class="unseen" href="#main">
          Skip to content
        </a>
        <header>
          <nav aria-label="Screens">
            {screens.map((each) => (
              <a key={each.path} href={toHref(each.path)} aria-current={each === screen ? 'page' : undefined}>
                {each.title}
              </a>
            ))}
          </nav>
          <p class="who">
            {session.name} ({session.role}){' '}
            <button type="button" onClick={leave}>
              Sign out
            </button>
          </p>
        </header>
        <main id="main" tabIndex={-1}>
          <screen.show />
        </main>
      </div>
    </SessionContext.Provider>
  );
}
