import { useEffect, useState } from 'preact/hooks';
import { read } from '../lib/api.js';
import { useModal } from '../lib/hooks/use-modal.js';
import { useRead } from '../lib/hooks/use-read.js';
import { useSelectedNetwork } from '../lib/selected-network.js';
import { Icon } from '../parts/icon.js';
import { NETWORKS_EVERY_MS, useNetworkIds } from '../parts/networks.js';
import { findTargets, getNumber, type Known, type Target } from './find-targets.js';

/** Characters that the console searches for. */
const MAX_SEARCH = 100;
/** Pause until the console searches for what was typed. */
const SETTLED_MS = 150;

/** Finds screens, networks, blocks, backfills, nodes, applications and keys. */
export function Palette({ close }: { close: () => void }) {
  const dialog = useModal();
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const found = useFound(text);
  const network = useSelectedNetwork();
  const networks = useNetworkIds();
  const nodes = useRead('nodes', { limit: 1_000 }, NETWORKS_EVERY_MS).value ?? [];
  const targets = findTargets(text, { networks, network, nodes, ...found });
  const current = Math.min(at, targets.length - 1);
  useEffect(() => {
    dialog.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [current]);
  const go = (target: Target | undefined): void => {
    if (target === undefined) return;
    // By the dialog itself: the focus goes back to where it was.
    dialog.current?.close();
    location.href = target.href;
  };
  const press = (event: KeyboardEvent): void => {
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (by !== 0) setAt((current + by + targets.length) % Math.max(1, targets.length));
    else if (event.key === 'Enter') go(targets[current]);
    else return;
    event.preventDefault();
  };
  return (
    <dialog ref={dialog} class="palette" aria-label="Go to" onClose={close}>
      <input
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls="targets"
        aria-activedescendant={targets.length > 0 ? `target-${current}` : undefined}
        aria-label="Go to"
        placeholder="Screen, network, block, backfill, node or key"
        maxLength={100}
        autocomplete="off"
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={press}
      />
      {/* biome-ignore-start lint/a11y/useFocusableInteractive: the field above keeps the focus and names the current one */}
      {/* biome-ignore-start lint/a11y/useKeyWithClickEvents: the keys are those of the field above */}
      <div id="targets" class="targets" role="listbox" aria-label="Targets">
        {targets.map((target, index) => (
          <div
            key={`${target.note} ${target.href}`}
            id={`target-${index}`}
            role="option"
            aria-selected={index === current}
            onMouseMove={() => setAt(index)}
            onClick={() => go(target)}
          >
            <Icon name={target.icon} />
            <span>
              <bdi>{target.title}</bdi>
            </span>
            <small>{target.note}</small>
          </div>
        ))}
      </div>
      {/* biome-ignore-end lint/a11y/useKeyWithClickEvents: above */}
      {/* biome-ignore-end lint/a11y/useFocusableInteractive: above */}
      {targets.length === 0 && <p class="none">No results.</p>}
      <footer>
        <span>
          <kbd>↑</kbd> <kbd>↓</kbd> select
        </span>
        <span>
          <kbd>Enter</kbd> open
        </span>
        <span>
          <kbd>Esc</kbd> close
        </span>
      </footer>
    </dialog>
  );
}

type Found = Pick<Known, 'applications' | 'backfill' | 'keys'>;
const NONE: Found = { applications: [], backfill: null, keys: [] };

/** Applications and keys with the text in their names, and the backfill with the number in it. */
function useFound(text: string): Found {
  const [found, setFound] = useState(NONE);
  useEffect(() => {
    const gone = new AbortController();
    const search = text.trim().slice(0, MAX_SEARCH);
    const timer = setTimeout(() => {
      const [asked, id] = [{ search, limit: 6 }, getNumber(search)];
      const none = { rows: [] };
      Promise.all([
        search.length < 2 ? none : read('applications', asked, gone.signal),
        search.length < 2 ? none : read('keys', asked, gone.signal),
        isId(id) ? read('backfills/progress', { ids: id }, gone.signal) : [],
      ]).then(
        ([applications, keys, [report]]) =>
          setFound({
            applications: applications.rows,
            backfill: report?.backfill.id ?? null,
            keys: keys.rows,
          }),
        // The other targets are there; a later text tries again.
        () => undefined,
      );
    }, SETTLED_MS);
    return () => {
      clearTimeout(timer);
      gone.abort();
    };
  }, [text]);
  return found;
}

const isId = (number: number | null): boolean =>
  number !== null && number >= 1 && Number.isSafeInteger(number);
