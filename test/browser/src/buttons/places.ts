import type { Page } from 'playwright-core';
import { SCREENS } from '../pictures/screens.js';
import type { Place } from './walk.js';

// The dialog of a curve is opened by the buttons of Overview.
const { curve: _, ...screens } = SCREENS;

/** What is beside the content: the menu, and what it opens. */
const SHELL = { hash: 'changes', room: 'shell', scope: '.shell > :not(main)' };

const search = (text: string) => async (page: Page) => {
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Go to' }).fill(text);
  await page.getByRole('dialog').getByRole('option').first().waitFor();
};

/** Where an admin presses everything: all screens, and states of them that take more than a press to reach. */
export const PLACES: Readonly<Record<string, Place>> = {
  ...screens,
  palette: { hash: 'overview', act: search('ethereum 2') },
  shell: { ...SHELL, except: 'Sign out' },
  // The links are those of the wide one.
  'narrow-shell': {
    ...SHELL,
    scope: '.sidebar .top',
    act: (page) => page.setViewportSize({ width: 360, height: 740 }),
    leave: (page) => page.setViewportSize({ width: 1280, height: 800 }),
  },
  shortcuts: {
    hash: 'changes',
    room: 'shell',
    act: async (page) => {
      // The focus must have been somewhere, to come back.
      await page.getByRole('button', { name: 'Filter' }).focus();
      await page.keyboard.press('?');
      await page.getByRole('dialog').waitFor();
    },
  },
  'selected-blocks': {
    hash: 'coverage?network=ethereum&from=16999000&to=17001000',
    scope: '[aria-label="Selected blocks"]',
    act: async (page) => {
      await page.getByRole('img', { name: /^Coverage of blocks/ }).focus();
      await page.keyboard.press('Shift+ArrowRight');
      await page.getByRole('region', { name: 'Selected blocks' }).waitFor();
    },
  },
  'typed-limit': {
    hash: 'budgets',
    scope: 'form.cap',
    act: (page) => page.getByLabel('Limit per day of provider-a').fill('31,000,000'),
  },
  'runs-of-a-schedule': { hash: 'schedules/nightly-audit' },
  file: { hash: 'files/ethereum/logs/0' },
  // A worker that was told to drain says so a little later, and the walk over the workers may have resumed it by then.
  draining: {
    hash: 'workers',
    act: async (page) => {
      const resume = page.getByRole('button', { name: 'Resume' }).first();
      if (!(await resume.isVisible())) await page.getByRole('button', { name: 'Drain' }).first().click();
      await resume.waitFor();
    },
  },
};

/** The last press of a session. */
export const SIGN_OUT: Place = { ...SHELL, scope: '.sidebar footer > button' };

/** Of the holder of a key, who sees it alone. */
export const OWN_PLACES: Readonly<Record<string, Place>> = {
  own: { hash: 'own' },
  'own-shell': { ...SHELL, hash: 'own', except: 'Sign out' },
};
