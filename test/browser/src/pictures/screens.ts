import type { Page } from 'playwright-core';

/** A screen of the console. */
export interface Screen {
  /** After `#/`; `:key` stands for the prefix of a key. */
  hash: string;
  /** What is done there before it is looked at. */
  act?(page: Page): Promise<unknown>;
}

/** All screens of an operator, as the showcase has them. */
export const SCREENS: Readonly<Record<string, Screen>> = {
  overview: { hash: 'overview' },
  curve: {
    hash: 'overview',
    act: async (page) => {
      await page.getByTitle('Published blocks of Installation over time').first().click();
      await page.getByRole('dialog').getByLabel('Last').selectOption('hour');
      await page.getByRole('dialog').getByRole('slider').first().waitFor();
    },
  },
  palette: {
    hash: 'overview',
    act: async (page) => {
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'Go to' }).fill('ethereum 17,000,123');
      await page.getByRole('dialog').getByRole('option').first().waitFor();
    },
  },
  alarms: { hash: 'alarms' },
  notifications: { hash: 'notifications' },
  coverage: { hash: 'coverage?network=ethereum' },
  files: { hash: 'files?network=ethereum' },
  backfills: { hash: 'backfills' },
  backfill: { hash: 'backfills/2' },
  'new-backfill': { hash: 'backfills/new?network=ethereum' },
  schedules: { hash: 'schedules' },
  quarantine: { hash: 'quarantine' },
  block: { hash: 'quarantine/ethereum/17000123' },
  hooks: { hash: 'hooks' },
  hook: { hash: 'hooks/2' },
  nodes: { hash: 'nodes' },
  budgets: { hash: 'budgets' },
  workers: { hash: 'workers' },
  keys: { hash: 'keys' },
  key: { hash: 'keys/:key' },
  plans: { hash: 'plans' },
  operators: { hash: 'operators' },
  changes: { hash: 'changes' },
  start: { hash: 'start' },
};
