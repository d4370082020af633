import type { FunctionComponent } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { type ApiError, currentSession, onSessionEnd, type Session, signOut } from './lib/api.js';
import { hrefOf, useRoute } from './lib/route.js';
import { Problem } from './parts/states.js';
import { Alarms } from './screens/alarms.js';
import { Backfills } from './screens/backfills.js';
import { Changes } from './screens/changes.js';
import { Coverage } from './screens/coverage.js';
import { Files } from './screens/files.js';
import { Keys } from './screens/keys.js';
import { Nodes } from './screens/nodes.js';
import { Overview } from './screens/overview.js';
import { Own } from './screens/own.js';
import { Quarantine } from './screens/quarantine.js';
import { Schedules } from './screens/schedules.js';
import { SignIn } from './screens/sign-in.js';
import { Spending } from './screens/spending.js';
import { Workers } from './screens/workers.js';

interface Screen {
  /** The first part of its path. */
  path: string;
  title: string;
  show: FunctionComponent<{ mayChange: boolean; isAdmin: boolean }>;
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
/** The screens of the holder of a key. */
const OWN_SCREENS: readonly Screen[] = [{ path: 'own', title: 'Your key', show: Own }];

/** How long until the console is asked again after it did not answer, in milliseconds. */
const AGAIN_MS = 3_000;

/** Everything: who is signed in, the menu, and the screen of the address. */
export function App() {
  const [session, setSession] = useState<Session | null | undefined>(undefined);
  /** The session ended by itself: what is open stays, also what was entered, until somebody has signed in again. */
  const [expired, setExpired] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const { path } = useRoute();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = (): void => {
      currentSession().then(
        (found) => {
          setError(null);
          setSession(found);
        },
        (problem: ApiError) => {
          setError(problem);
          timer = setTimeout(look, AGAIN_MS);
        },
      );
    };
    // An answer to what was asked before a new sign-in ends nothing.
    onSessionEnd(() => {
      currentSession().then(
        (found) => setExpired(found === null),
        () => undefined,
      );
    });
    look();
    return () => clearTimeout(timer);
  }, []);

  // A link that nobody needs does not stay in the address.
  const unused = session !== null && session !== undefined && path.startsWith('link/');
  useEffect(() => {
    if (unused) location.replace('#/');
  }, [unused]);

  if (session === undefined) {
    return (
      <main>{error === null ? <p class="waiting">Asking the console …</p> : <Problem error={error} />}</main>
    );
  }
  const signedIn = (found: Session): void => {
    setSession(found);
    setExpired(false);
  };
  if (session === null) return <SignIn done={signedIn} />;
  const [first] = path.split('/');
  const screens = session.role === 'owner' ? OWN_SCREENS : SCREENS;
  const screen = screens.find((each) => each.path === first) ?? (screens[0] as Screen);
  const leave = (): void => void signOut().finally(() => setSession(null));
  return (
    <>
      {expired && <SignIn done={signedIn} />}
      <div hidden={expired} key={`${session.role} ${session.name}`}>
        <a class="unseen" href="#main">
          To the content
        </a>
        <header>
          <nav aria-label="Screens">
            {screens.map((each) => (
              <a key={each.path} href={hrefOf(each.path)} aria-current={each === screen ? 'page' : undefined}>
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
          <screen.show
            mayChange={session.role === 'operator' || session.role === 'admin'}
            isAdmin={session.role === 'admin'}
          />
        </main>
      </div>
    </>
  );
}
