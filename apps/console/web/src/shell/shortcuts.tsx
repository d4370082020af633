import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useModal } from '../lib/hooks/use-modal.js';
import { toHref } from '../lib/route.js';
import { useSelectedNetwork } from '../lib/selected-network.js';
import { SCREENS } from '../parts/screens.js';
import { Palette } from './palette.js';

/** How long after `g` its second key may come. */
const SEQUENCE_MS = 1_500;

/** A dialog, with a number of its own: one that was closed says so a little later, when another may be shown. */
interface Shown {
  name: 'palette' | 'keys';
  id: number;
}

/** The keys of all screens, what they open, and a function that opens the palette. */
export function useShortcuts(enabled: boolean) {
  const [shown, show] = useState<Shown | null>(null);
  const network = useSelectedNetwork();
  const gone = useRef(0);
  const open = (name: Shown['name']): void =>
    show((now) =>
      now?.name === name && document.querySelector('dialog[open]') !== null
        ? now
        : { name, id: (now?.id ?? 0) + 1 },
    );
  // Before the page is painted: what is seen obeys its keys.
  useLayoutEffect(() => {
    if (!enabled) return;
    const press = (event: KeyboardEvent): void => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        open('palette');
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const after = event.timeStamp - gone.current < SEQUENCE_MS;
      gone.current = event.key === 'g' ? event.timeStamp : 0;
      const screen = after ? SCREENS.find(({ key }) => key === event.key) : undefined;
      if (screen !== undefined) location.hash = toHref(screen.path, screen.byNetwork ? { network } : {});
      else if (event.key === '?') open('keys');
      else if (event.key === '/') {
        const field = document.querySelector<HTMLInputElement>('main input[type="search"]');
        if (field === null) return;
        field.focus();
      } else return;
      event.preventDefault();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [enabled, network]);
  const close = (): void => show((now) => (now === shown ? null : now));
  const Dialog = shown?.name === 'keys' ? KeyList : Palette;
  return { dialogs: shown && <Dialog key={shown.id} close={close} />, find: () => open('palette') };
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.closest('input, select, textarea, dialog') !== null);

function KeyList({ close }: { close: () => void }) {
  const dialog = useModal();
  return (
    <dialog ref={dialog} class="keys" aria-labelledby="keys-title" onClose={close}>
      <div class="page-head">
        <h2 id="keys-title">Keys</h2>
        {/* By the dialog itself: the focus goes back to where it was. */}
        <button type="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
      <dl>
        <dt>
          <kbd>Ctrl</kbd> <kbd>K</kbd>
        </dt>
        <dd>Go to a screen, network, block, backfill, node or key</dd>
        <dt>
          <kbd>/</kbd>
        </dt>
        <dd>Search on this screen</dd>
        {SCREENS.flatMap(({ key, title }) =>
          key === undefined
            ? []
            : [
                <dt key={key}>
                  <kbd>g</kbd> <kbd>{key}</kbd>
                </dt>,
                <dd key={`${key} title`}>{title}</dd>,
              ],
        )}
      </dl>
    </dialog>
  );
}
