import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, Dialog, ElementHandle, Page } from 'playwright-core';
import { openPage, type WatchedPage } from '../browser.js';
import type { Screen } from '../pictures/screens.js';
import { fillFields } from './fill-fields.js';
import { type Control, findControl, findControls } from './find-controls.js';

/** A screen on which everything is pressed. */
export interface Place extends Screen {
  /** What belongs to it, as a selector; without it the content beside the menu. */
  scope?: string;
  /** The first part of its hash, unless it has another name. */
  room?: string;
  /** The name of what is not pressed. */
  except?: string;
  /** Undoes what `act` did to the window. */
  leave?(page: Page): Promise<unknown>;
}

/** What was pressed. */
export interface Press {
  room: string;
  name: string;
}

/** A control, and those that are pressed first, since they make it appear. */
interface Path {
  steps: readonly Control[];
  /** Whether the dialog of the browser that the last one opens is confirmed; else it is cancelled. */
  confirmed: boolean;
}

const SETTLED_MS = 40;
/** How long answers, and what they show, may take to come. */
const LATEST_MS = 30_000;
const AGAIN_MS = 3_000;
const PAUSE_MS = 20;
const IS_FOCUS_LOST = 'document.activeElement === document.body';
/** Not streams of events, which do not end. */
const isAwaited = (url: string): boolean => url.includes('/api/') && !url.includes('/api/events');

/** A browser in which somebody presses everything. */
export class Walk {
  readonly presses: Press[] = [];
  /** What went wrong, with the path to it. */
  readonly faults: string[] = [];
  readonly page: Page;
  readonly #watched: WatchedPage;
  readonly #names: readonly string[];
  readonly #pending = new Set<unknown>();
  readonly #seen = new Map<string, Set<string>>();
  /** What asked before it was done, by place: it is cancelled first, and confirmed in the end. */
  readonly #asking = new Map<string, Path[]>();
  #sent = 0;
  #asked = 0;
  #confirms = false;
  /** So that what is created has names of its own. */
  #created = 0;

  private constructor(watched: WatchedPage, names: readonly string[]) {
    this.#watched = watched;
    this.#names = names;
    this.page = watched.page;
  }

  /** `names`: of what differs between rows. */
  static async open(browser: Browser, origin: string, names: readonly string[]): Promise<Walk> {
    const given: { walk?: Walk } = {};
    const watched = await openPage(browser, origin, (dialog) => void given.walk?.answer(dialog));
    const walk = new Walk(watched, names);
    given.walk = walk;
    walk.#watch();
    return walk;
  }

  /** Takes what went wrong so far away. */
  forget(): void {
    this.#watched.faults.length = 0;
  }

  private async answer(dialog: Dialog): Promise<void> {
    this.#asked++;
    if (dialog.message().trim() === '') this.faults.push('a dialog without a question');
    await (this.#confirms ? dialog.accept() : dialog.dismiss());
  }

  #watch(): void {
    const { page } = this;
    page.on('request', (request) => {
      if (request.method() === 'POST') this.#sent++;
      if (isAwaited(request.url())) this.#pending.add(request);
    });
    page.on('requestfinished', (request) => this.#pending.delete(request));
    page.on('requestfailed', (request) => this.#pending.delete(request));
    page.on('response', (response) => {
      if (response.status() >= 500) this.#watched.faults.push(`${response.status()} of ${response.url()}`);
    });
  }

  /** Presses all that a place has, each from a fresh state of it; what asks first is cancelled. */
  async pressAll(name: string, place: Place): Promise<void> {
    await this.#enter(place);
    const controls = await this.#findNew(name, place);
    await this.#pressPaths(
      name,
      place,
      controls.map((control) => ({ steps: [control], confirmed: false })),
    );
    await place.leave?.(this.page);
  }

  /** Presses again what asked, and confirms it. */
  async confirmAll(name: string, place: Place): Promise<void> {
    // What appears after it may ask too.
    for (let paths = this.#takeAsking(name); paths.length > 0; paths = this.#takeAsking(name)) {
      await this.#pressPaths(
        name,
        place,
        paths.map(({ steps }) => ({ steps, confirmed: true })),
      );
    }
  }

  #takeAsking(name: string): readonly Path[] {
    const paths = this.#asking.get(name) ?? [];
    this.#asking.delete(name);
    return paths;
  }

  async #pressPaths(name: string, place: Place, paths: readonly Path[]): Promise<void> {
    const left = [...paths];
    const lost: { control: Control; words: string }[] = [];
    /** The path that led to what is shown. */
    let shown: Path | null = null;
    for (let path = left.shift(); path !== undefined; path = left.shift()) {
      const before = path.steps.slice(0, -1);
      const words = `${name}: ${path.steps.map(({ key }) => key).join(' > ')}`;
      if (shown === null || !isSame(shown.steps, before)) {
        await this.#enter(place);
        if (!(await this.#repeat(place, before))) {
          lost.push({ control: path.steps.at(-1) as Control, words });
          continue;
        }
      }
      shown = null;
      if (!(await this.#press(name, place, path, words))) continue;
      if (!(await this.#isAt(place))) continue;
      shown = path;
      const { steps } = path;
      left.unshift(
        ...(await this.#findNew(name, place)).map((control) => ({
          steps: [...steps, control],
          confirmed: false,
        })),
      );
    }
    // What shows a button once only, as a change of a state does, need not do so again if its like was pressed.
    const room = toRoom(place);
    for (const { control, words } of lost) {
      if (this.presses.some((each) => each.room === room && each.name === control.name)) continue;
      this.faults.push(`${words}: not there again`);
    }
  }

  /** Whether the place is still shown after a press. */
  async #isAt({ hash }: Place): Promise<boolean> {
    const [now] = (new URL(this.page.url()).hash.slice(2) || 'overview').split('?');
    return now === hash.split('?')[0];
  }

  async #findNew(name: string, place: Place): Promise<Control[]> {
    const seen = this.#seen.get(name) ?? new Set();
    this.#seen.set(name, seen);
    const found: Control[] = [];
    for (const control of await findControls(this.page, place.scope ?? 'main', this.#names)) {
      if (seen.has(control.key) || control.name === place.except) continue;
      seen.add(control.key);
      found.push(control);
    }
    return found;
  }

  /** A screen that was left for another one, and tables, are drawn a little later. */
  async #find(place: Place, key: string): Promise<ElementHandle | null> {
    const begun = Date.now();
    for (;;) {
      const element = await findControl(this.page, place.scope ?? 'main', this.#names, key);
      if (element !== null || Date.now() - begun > AGAIN_MS) return element;
      await sleep(PAUSE_MS);
    }
  }

  /** Shows a place as if it was opened first. */
  async #enter({ act, hash }: Place): Promise<void> {
    this.#created++;
    await this.page.goto(`/?at=${this.#created}#/${hash}`);
    await this.page.locator('.shell').waitFor();
    await this.#settle();
    await act?.(this.page);
    await this.#settle();
  }

  async #repeat(place: Place, steps: readonly Control[]): Promise<boolean> {
    for (const { key } of steps) {
      const element = await this.#find(place, key);
      if (element === null) return false;
      await this.#do(element, true);
    }
    return true;
  }

  /** Whether it was there. */
  async #press(name: string, place: Place, path: Path, words: string): Promise<boolean> {
    const control = path.steps.at(-1) as Control;
    const element = await this.#find(place, control.key);
    if (element === null) {
      this.faults.push(`${words}: not there`);
      return false;
    }
    const [asked, sent] = [this.#asked, this.#sent];
    try {
      await this.#do(element, path.confirmed);
    } catch (error) {
      this.faults.push(`${words}: ${(error as Error).message.split('\n')[0]}`);
      return false;
    }
    this.presses.push({ room: toRoom(place), name: control.name });
    if (this.#asked > asked && !path.confirmed) {
      if (this.#sent > sent) this.faults.push(`${words}: done, though it was cancelled`);
      this.#asking.set(name, [...(this.#asking.get(name) ?? []), path]);
    }
    // The field of the palette has it while an option is pressed, and what had it before may be nothing.
    const isKept = control.key.startsWith('option ') || (await this.page.evaluate(IS_FOCUS_LOST)) === false;
    if (!isKept) this.faults.push(`${words}: the focus is lost`);
    for (const fault of [...this.#watched.faults.splice(0), ...(await this.#check())]) {
      this.faults.push(`${words}: ${fault}`);
    }
    return true;
  }

  async #do(element: ElementHandle, confirmed: boolean): Promise<void> {
    this.#confirms = confirmed;
    await fillFields(element, ++this.#created);
    if (await element.evaluate((each: { tagName: string }) => each.tagName === 'SELECT')) {
      await element.focus();
      await chooseLast(element);
    } else if (await element.evaluate((each: { matches(it: string): boolean }) => each.matches('.unseen'))) {
      // It is shown while it has the focus.
      await element.focus();
      await this.page.keyboard.press('Enter');
    } else {
      await element.click({ timeout: 10_000 });
    }
    await this.#settle();
  }

  /** Waits until everything that was asked for is answered and shown. */
  async #settle(): Promise<void> {
    const begun = Date.now();
    for (let since = begun; Date.now() - since < SETTLED_MS; await sleep(PAUSE_MS)) {
      if (this.#pending.size > 0 || (await this.page.locator('p.waiting').count()) > 0) since = Date.now();
      if (Date.now() - begun > LATEST_MS) throw new Error(`Still waiting at ${this.page.url()}`);
    }
  }

  /** What is wrong with what is shown. */
  async #check(): Promise<string[]> {
    const problems = await this.page.locator('.problem:visible').allTextContents();
    const dialogs = await this.page.getByRole('dialog', { name: /./ }).count();
    const headings = await this.page.locator('h1:visible').count();
    return [...problems, ...(dialogs + headings === 0 ? ['neither a heading nor a dialog with a name'] : [])];
  }
}

const toRoom = ({ hash, room }: Place): string => room ?? hash.split(/[/?]/)[0] ?? '';

const isSame = (one: readonly Control[], other: readonly Control[]): boolean =>
  one.length === other.length && one.every(({ key }, at) => key === other[at]?.key);

/** The last option that can be chosen and is not chosen yet. */
async function chooseLast(element: ElementHandle): Promise<void> {
  const value = await element.evaluate(
    (select: { value: string; options: Iterable<{ value: string; disabled: boolean }> }) =>
      [...select.options].findLast((each) => !each.disabled && each.value !== select.value)?.value ??
      select.value,
  );
  await element.selectOption(value);
}
