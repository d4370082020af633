import type { IconName } from './icon.js';

/** A screen of operators, as menus show it. */
export interface ScreenEntry {
  /** The first part of its path. */
  path: string;
  title: string;
  /** The heading that it stands below; empty: none. */
  group: '' | 'Data' | 'Resources' | 'Access';
  icon: IconName;
  /** After `g`. */
  key?: string;
  /** Whether its address may name a network. */
  byNetwork?: boolean;
  /** Whether the menu leaves it out: it is for the beginning. */
  hidden?: boolean;
  /** Its address, if it is no screen of these pages. */
  href?: string;
}

/** In the order of the menu; the first one is shown first. */
export const SCREENS: readonly ScreenEntry[] = [
  { path: 'overview', title: 'Overview', group: '', icon: 'overview', key: 'o', byNetwork: true },
  { path: 'alarms', title: 'Alarms', group: '', icon: 'alarms', key: 'a', byNetwork: true },
  { path: 'notifications', title: 'Notifications', group: '', icon: 'notifications', key: 'm' },
  { path: 'coverage', title: 'Coverage', group: 'Data', icon: 'coverage', key: 'c', byNetwork: true },
  { path: 'files', title: 'Files', group: 'Data', icon: 'files', key: 'f', byNetwork: true },
  { path: 'backfills', title: 'Backfills', group: 'Data', icon: 'backfills', key: 'b', byNetwork: true },
  { path: 'schedules', title: 'Schedules', group: 'Data', icon: 'schedules' },
  { path: 'quarantine', title: 'Quarantine', group: 'Data', icon: 'quarantine', key: 'q', byNetwork: true },
  { path: 'hooks', title: 'Webhooks', group: 'Data', icon: 'hooks', key: 'h', byNetwork: true },
  { path: 'nodes', title: 'Nodes', group: 'Resources', icon: 'nodes', key: 'n', byNetwork: true },
  { path: 'budgets', title: 'Budgets', group: 'Resources', icon: 'budgets' },
  { path: 'workers', title: 'Workers', group: 'Resources', icon: 'workers', key: 'w' },
  { path: 'jobs', title: 'Jobs', group: 'Resources', icon: 'jobs', href: '/jobs/' },
  { path: 'keys', title: 'API keys', group: 'Access', icon: 'keys', key: 'k' },
  { path: 'plans', title: 'Plans', group: 'Access', icon: 'plans' },
  { path: 'operators', title: 'Operators', group: 'Access', icon: 'operators' },
  { path: 'changes', title: 'Audit log', group: 'Access', icon: 'changes', key: 'l' },
  { path: 'start', title: 'Get started', group: '', icon: 'next', hidden: true },
];

export const findScreen = (path: string | undefined): ScreenEntry | undefined =>
  SCREENS.find((each) => each.path === path);
