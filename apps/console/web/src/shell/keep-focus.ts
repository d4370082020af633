/** What can have the focus. */
const FOCUSABLE =
  'a[href], button:not(:disabled), input:not(:disabled), select, textarea, summary, [tabindex="0"]';

/** Where the focus was: its element, each with its place in the one around it, and the screen. */
interface Place {
  path: readonly { element: Element; parent: Element; at: number }[];
  screen: string;
}

/**
 * Gives the focus back if what had it is removed, as a form that was sent or the screen of an address that was left:
 * to what stands where it was, else to the content. A browser gives it to nothing, and the next Tab begins at the top.
 */
export function keepFocus(): void {
  let last: Place | null = null;
  document.addEventListener('focusin', ({ target }) => {
    last = { path: getPath(target as Element), screen: getScreen() };
  });
  document.addEventListener('focusout', ({ target }) => {
    const left = last;
    // What is removed loses it too, and is gone by then.
    queueMicrotask(() => {
      if ((target as Element).isConnected && last === left) last = null;
    });
  });
  new MutationObserver(() => {
    if (last === null || last.path[0]?.element.isConnected || document.activeElement !== document.body)
      return;
    const { path, screen } = last;
    const main = document.getElementById('main');
    const near = screen === getScreen() ? findNear(path, main) : null;
    (near ?? main)?.focus({ preventScroll: true });
  }).observe(document.body, { childList: true, subtree: true });
}

const getScreen = (): string => location.hash.split('?')[0] ?? '';

function getPath(from: Element): Place['path'] {
  const path: { element: Element; parent: Element; at: number }[] = [];
  for (let element = from; element.parentElement !== null; element = element.parentElement) {
    const parent = element.parentElement;
    path.push({ element, parent, at: [...parent.children].indexOf(element) });
  }
  return path;
}

/** The first that can have it at or after the place that was removed, or the last before it; null: `main` itself is new. */
function findNear(path: Place['path'], main: HTMLElement | null): HTMLElement | null {
  const place = path.find(({ parent }) => parent.isConnected);
  if (place === undefined || (place.parent !== main && place.parent.contains(main))) return null;
  const { parent, at } = place;
  const around = [...parent.querySelectorAll<HTMLElement>(FOCUSABLE)].filter((each) =>
    each.checkVisibility(),
  );
  const next = parent.children[at];
  const isBefore = (each: Element): boolean =>
    next === undefined || (each.compareDocumentPosition(next) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;
  return around.find((each) => !isBefore(each)) ?? around.at(-1) ?? null;
}
