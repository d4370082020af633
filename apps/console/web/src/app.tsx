import type { FunctionComponent } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { type ApiError, onSessionEnd, readSession, type Session, signOut } from './lib/api.js';
import { useRoute } from './lib/route.js';
import { SCREENS, type ScreenEntry } from './lib/screens.js';
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
import { Plans } from './screens/keys/plans.js';
import { Nodes } from './screens/nodes/nodes.js';
import { Operators } from './screens/operators/operators.js';
import { Overview } from './screens/overview/overview.js';
import { Quarantine } from './screens/quarantine/quarantine.js';
import { Hooks } from './screens/receivers/hooks.js';
import { Notifications } from './screens/receivers/notifications.js';
import { Schedules } from './screens/schedules.js';
import { SignIn } from './screens/sign-in.js';
import { Start } from './screens/start/start.js';
import { Workers } from './screens/workers.js';
import { useShortcuts } from './shell/shortcuts.js';
import { Sidebar } from './shell/sidebar.js';

/** What the screens of operators show, by path. */
const SHOWN: Readonly<Record<string, FunctionComponent>> = {
  overview: Overview,
  alarms: Alarms,
  notifications: Notifications,
  coverage: Coverage,
  files: Files,
  backfills: Backfills,
  schedules: Schedules,
  quarantine: Quarantine,
  hooks: Hooks,
  nodes: Nodes,
  budgets: Spending,
  workers: Workers,
  keys: Keys,
  plans: Plans,
  operators: Operators,
  changes: Changes,
  start: Start,
};
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
  const Shown = screen === OWN ? Own : (SHOWN[screen.path] ?? Overview);
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
          <Shown />
        </main>
        {dialogs}
      </div>
    </SessionContext.Provider>
  );
}
