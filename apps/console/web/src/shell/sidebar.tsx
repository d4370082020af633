import { useEffect, useState } from 'preact/hooks';
import type { Session } from '../lib/api.js';
import { useRead } from '../lib/hooks/use-read.js';
import { toHref, useRoute } from '../lib/route.js';
import { selectNetwork, useSelectedNetwork } from '../lib/selected-network.js';
import { getTheme, setTheme, type Theme } from '../lib/theme.js';
import { Icon } from '../parts/icon.js';
import { useNetworkIds } from '../parts/networks.js';
import type { ScreenEntry } from '../parts/screens.js';
import { Segments } from '../parts/segments.js';

/** How often the number of open alarms is read. */
const ALARMS_EVERY_MS = 20_000;

/** The menu beside each screen; on a narrow one it opens. */
export function Sidebar(props: {
  screens: readonly ScreenEntry[];
  shown: ScreenEntry;
  session: Session;
  find: () => void;
  leave: () => void;
}) {
  const { screens, shown, session, find, leave } = props;
  const [open, setOpen] = useState(false);
  const { path } = useRoute();
  useEffect(() => setOpen(false), [path]);
  const isOperator = session.role !== 'owner';
  return (
    <aside class="sidebar" data-open={open}>
      <div class="top">
        <p class="brand">
          <Icon name="brand" /> Packhouse
        </p>
        <button type="button" class="menu-button" aria-expanded={open} onClick={() => setOpen(!open)}>
          <Icon name="menu" /> Menu
        </button>
      </div>
      {isOperator && (
        <>
          <NetworkSwitcher shown={shown} />
          <button type="button" class="find" onClick={find}>
            <Icon name="search" /> Go to… <kbd>Ctrl K</kbd>
          </button>
        </>
      )}
      <nav aria-label="Screens">
        <MenuLinks screens={screens} shown={shown} />
      </nav>
      <footer>
        <p class="who">
          {session.name} ({session.role})
        </p>
        <ThemeChoice />
        <button type="button" onClick={leave}>
          Sign out
        </button>
      </footer>
    </aside>
  );
}

function MenuLinks({ screens, shown }: { screens: readonly ScreenEntry[]; shown: ScreenEntry }) {
  const network = useSelectedNetwork();
  let group = '';
  return (
    <>
      {screens
        .filter(({ hidden }) => hidden !== true)
        .map((each) => {
          const heading = each.group !== group && <h2>{each.group}</h2>;
          group = each.group;
          const link = {
            href: each.href ?? toHref(each.path, each.byNetwork ? { network } : {}),
            'aria-current': each === shown ? ('page' as const) : undefined,
          };
          const label = (
            <>
              <Icon name={each.icon} />
              {each.title}
            </>
          );
          return (
            <>
              {heading}
              {each.path === 'alarms' ? (
                <AlarmsLink key={each.path} link={link}>
                  {label}
                </AlarmsLink>
              ) : (
                <a key={each.path} {...link}>
                  {label}
                </a>
              )}
            </>
          );
        })}
    </>
  );
}

/** With the number of open alarms beside it. */
function AlarmsLink({ link, children }: { link: object; children: preact.ComponentChildren }) {
  // With an input, so that it is polled: a page has a stream of events for what it shows only.
  const { value = [] } = useRead('alarms', { cleared: false }, ALARMS_EVERY_MS);
  return (
    <a {...link} data-count={value.length > 0 ? Math.min(value.length, 99) : undefined}>
      {children}
    </a>
  );
}

/** The network that screens show. It stays while screens change. */
function NetworkSwitcher({ shown }: { shown: ScreenEntry }) {
  const { parts, query } = useRoute();
  const selected = useSelectedNetwork();
  const value = query.network ?? (shown.byNetwork && parts.length < 2 ? '' : (selected ?? ''));
  const ids = [...new Set([...useNetworkIds(), ...(value === '' ? [] : [value])])].sort();
  const choose = (id: string): void => {
    const network = id === '' ? undefined : id;
    selectNetwork(network);
    if (shown.byNetwork) location.hash = toHref(shown.path, { network });
  };
  return (
    <div class="switcher">
      <label for="network">Network</label>
      <select id="network" value={value} onChange={(event) => choose(event.currentTarget.value)}>
        <option value="">All networks</option>
        {ids.map((id) => (
          <option key={id} value={id}>
            {id}
          </option>
        ))}
      </select>
    </div>
  );
}

const LABELS = { system: 'System', light: 'Light', dark: 'Dark' } as const;

function ThemeChoice() {
  const [theme, choose] = useState(getTheme());
  const set = (next: Theme): void => {
    setTheme(next);
    choose(next);
  };
  return <Segments label="Theme" options={LABELS} value={theme} choose={set} />;
}
