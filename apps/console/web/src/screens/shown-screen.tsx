import { useEffect, useState } from 'preact/hooks';
import { Overview } from './overview/overview.js';

type Others = typeof import('./other-screens.js');
let loaded: Others['OTHER_SCREENS'] | undefined;

/** Loads the code of all other screens; once it is there, at once. */
async function load(): Promise<Others['OTHER_SCREENS']> {
  loaded ??= (await import('./other-screens.js')).OTHER_SCREENS;
  return loaded;
}

/** The screen of a path. Overview is there at once; the code of the others is loaded, also before it is needed. */
export function ShownScreen({ path }: { path: string }) {
  const [others, setOthers] = useState(loaded);
  const [failed, setFailed] = useState(false);
  const isNeeded = path !== 'overview';
  useEffect(() => {
    if (others !== undefined) return;
    const start = (): void => {
      load().then(
        (screens) => setOthers(screens),
        () => setFailed(true),
      );
    };
    if (isNeeded) return start();
    // After what the first screen needs.
    const timer = setTimeout(start, 2_000);
    return () => clearTimeout(timer);
  }, [isNeeded, others]);
  if (!isNeeded) return <Overview />;
  const Shown = others?.[path];
  if (Shown !== undefined) return <Shown />;
  if (!failed) return <p class="waiting">Loading…</p>;
  return (
    <div class="problem" role="alert">
      This screen failed to load: the console is not responding, or was updated.{' '}
      <button type="button" onClick={() => location.reload()}>
        Reload page
      </button>
    </div>
  );
}
