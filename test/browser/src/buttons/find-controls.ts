import type { ElementHandle, Page } from 'playwright-core';

/** Something of a page that can be pressed. */
export interface Control {
  /** What it is and where, without what differs between rows: equal ones do the same. */
  key: string;
  /** Its accessible name, as it is shown. */
  name: string;
}

const PRESSABLE =
  'button, summary, select, input[type="checkbox"], a[href], [role="button"], [role="tab"], [role="menuitem"], [role="option"]';

/** What the functions below use of elements: these sources are compiled without the types of a browser. */
interface Element {
  id: string;
  tagName: string;
  type?: string;
  textContent: string;
  labels?: ArrayLike<Element>;
  childNodes: Iterable<Element>;
  checkVisibility(options: object): boolean;
  cloneNode(deep: boolean): Element;
  closest(selector: string): Element | null;
  getAttribute(name: string): string | null;
  matches(selector: string): boolean;
  querySelector(selector: string): Element | null;
  querySelectorAll(selector: string): Iterable<Element>;
  remove(): void;
}

/**
 * What can be pressed inside of `scope`, or in the dialog that is open. `names`: of networks, nodes and others, which differ
 * between rows.
 */
export async function findControls(page: Page, scope: string, names: readonly string[]): Promise<Control[]> {
  const found = await page.evaluate(collect, { pressable: PRESSABLE, scope });
  const ordered = [...names].sort((a, b) => b.length - a.length);
  return found.map(({ kind, name, place }) => ({
    name,
    key: `${kind} ${toPattern(name, ordered)} in ${toPattern(place, ordered)}`,
  }));
}

/** The last one with a key: the first row of a table is often that of the operator who is signed in. */
export async function findControl(
  page: Page,
  scope: string,
  names: readonly string[],
  key: string,
): Promise<ElementHandle | null> {
  const found = await findControls(page, scope, names);
  const at = found.findLastIndex((each) => each.key === key);
  if (at === -1) return null;
  const handle = await page.evaluateHandle('globalThis.controls');
  const element = (await handle.getProperty(String(at))).asElement();
  await handle.dispose();
  return element as ElementHandle | null;
}

/** Names without figures, hours and names. */
function toPattern(text: string, names: readonly string[]): string {
  let pattern = text;
  for (const name of names) pattern = pattern.replaceAll(name, '*');
  // A curve says so until its points are there.
  return pattern
    .replace(/^History: /, '')
    .replace(/\bph_[\w-]+/g, '*')
    .replace(/\b0x[\da-f]+/gi, '#')
    .replace(/\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun) /g, 'day ')
    .replace(/\d[\d,.:]*/g, '#');
}

/** Runs in the page. Leaves the elements in `globalThis.controls`, in the same order. */
function collect({ pressable, scope }: { pressable: string; scope: string }) {
  const { document } = globalThis as unknown as { document: Element };
  const tidy = (text: string): string => text.replace(/\s+/g, ' ').trim();
  const getText = (element: Element | null): string => {
    if (element === null) return '';
    const copy = element.cloneNode(true);
    for (const inner of [...copy.querySelectorAll('select, textarea, datalist, [aria-hidden="true"], svg')])
      inner.remove();
    return tidy(copy.textContent);
  };
  const getName = (element: Element): string =>
    element.getAttribute('aria-label') ??
    ([...(Array.from(element.labels ?? []) as Element[])].map(getText).join(' ') ||
      (element.tagName === 'SELECT' ? '' : getText(element)) ||
      element.getAttribute('title') ||
      '');
  /** The fields of its form, the cell, and what both are in. */
  const getPlace = (element: Element): string => {
    const form = element.closest('form');
    const fields = [...(form?.querySelectorAll('[name]') ?? [])].map((field) => field.getAttribute('name'));
    const details = element.closest('details');
    const dialog = element.closest('dialog');
    // That of a curve is the same wherever it is opened.
    if (dialog !== null)
      return dialog.getAttribute('aria-label')?.replace(/^.* over time$/, 'curve') ?? 'dialog';
    const around = element.closest('section[aria-label], [role="group"], aside, nav, fieldset');
    return [
      [...new Set(fields)].slice(0, 4).join(','),
      element.closest('td')?.getAttribute('data-title') ?? '',
      element.tagName === 'SUMMARY' ? '' : getText(details?.querySelector('summary') ?? null),
      around?.getAttribute('aria-label') ?? around?.tagName ?? '',
    ].join('/');
  };
  const dialog = document.querySelector('dialog[open]');
  const controls = [...document.querySelectorAll(pressable)].filter(
    (element) =>
      (dialog === null ? element.closest(scope) !== null : element.closest('dialog[open]') === dialog) &&
      element.checkVisibility({ visibilityProperty: true, opacityProperty: false }) &&
      !element.matches(':disabled, [aria-disabled="true"]'),
  );
  Object.assign(globalThis, { controls });
  return controls.map((element) => {
    const kind = element.getAttribute('role') ?? (element.type === 'checkbox' ? 'checkbox' : element.tagName);
    const place = getPlace(element);
    const option = kind === 'option' ? getText(element.querySelector('small')) : undefined;
    // Links of a column go to things of one kind.
    const isCell = kind === 'A' && element.closest('td') !== null && !element.matches('.button, .main');
    return {
      kind: kind.toLowerCase(),
      name: option ?? (isCell ? 'link' : getName(element)),
      place,
    };
  });
}
