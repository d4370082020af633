import { accessSync, constants, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { AxeResults } from 'axe-core';
import { type Browser, chromium, type Dialog, type Page } from 'playwright-core';

/** How long something may take to appear: what never comes fails, a slow machine does not. */
export const LATEST_MS = 120_000;
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The Chromium on PATH (Debian: `apt-get install chromium`); null: there is none. */
export function chromiumPath(): string | null {
  for (const folder of (process.env.PATH ?? '').split(path.delimiter)) {
    for (const name of ['chromium', 'chromium-browser', 'google-chrome']) {
      const file = path.join(folder, name);
      try {
        accessSync(file, constants.X_OK);
        return file;
      } catch {
        // Not here.
      }
    }
  }
  return null;
}

/** Starts it. The sandbox of Chromium cannot be had by root, nor in most containers. */
export function startChromium(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}

/** A page, and all that went wrong in it. */
export interface WatchedPage {
  page: Page;
  /** Errors of its console, exceptions, breaches of its CSP, dialogs, and requests to other hosts. */
  faults: string[];
}

/** Opens a page for the console at `origin`, in a context of its own. `answer`: to dialogs of the browser, if some are expected. */
export async function openPage(
  browser: Browser,
  origin: string,
  answer?: (dialog: Dialog) => void,
): Promise<WatchedPage> {
  const context = await browser.newContext({ baseURL: origin, viewport: { width: 1280, height: 800 } });
  context.setDefaultTimeout(LATEST_MS);
  // As an init script: the CSP of the console refuses scripts that are added later.
  await context.addInitScript({ content: AXE });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('console', (message) => {
    const { url } = message.location();
    // Whether somebody is signed in is asked first, and answered with 401 if not.
    if (message.type() !== 'error' || url === `${origin}/api/session`) return;
    faults.push(`${message.text()} at ${url}`);
  });
  page.on('pageerror', (error) => faults.push(`thrown: ${error.message}`));
  page.on('dialog', (dialog) => {
    if (answer !== undefined) return answer(dialog);
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    const { protocol, origin: asked } = new URL(request.url());
    if (protocol.startsWith('http') && asked !== origin) faults.push(`request to ${request.url()}`);
  });
  return { page, faults };
}

/** The serious and critical findings of axe on what the page shows, each with its first element. */
export async function getFindings(page: Page): Promise<string[]> {
  const { violations } = await page.evaluate(() =>
    (globalThis as unknown as { axe: { run(): Promise<AxeResults> } }).axe.run(),
  );
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, help, nodes }) => `${id}: ${help}: ${nodes[0]?.html.slice(0, 300)}`);
}
