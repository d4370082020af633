/** All screens but Overview and the sign-in: their code is loaded after those of the first page. */
import type { FunctionComponent } from 'preact';
import { Alarms } from './alarms.js';
import { Backfills } from './backfills/backfills.js';
import { Spending } from './budgets/spending.js';
import { Changes } from './changes/changes.js';
import { Coverage } from './coverage/coverage.js';
import { Files } from './files/files.js';
import { Keys } from './keys/keys.js';
import { Own } from './keys/own.js';
import { Plans } from './keys/plans.js';
import { Nodes } from './nodes/nodes.js';
import { Operators } from './operators/operators.js';
import { Quarantine } from './quarantine/quarantine.js';
import { Hooks } from './receivers/hooks.js';
import { Notifications } from './receivers/notifications.js';
import { Schedules } from './schedules.js';
import { Start } from './start/start.js';
import { Workers } from './workers.js';

/** What they show, by path. */
export const OTHER_SCREENS: Readonly<Record<string, FunctionComponent>> = {
  own: Own,
  alarms: Alarms,
  notifications: Notifications,
  coverage: Coverage,
  files: Files,
  backfills: Backfills,
  schedules: Schedules,
  quarantine: Quarantine,
  hooks: Hooks,
  nodes: Nodes,
  budgets: Spending,
  workers: Workers,
  keys: Keys,
  plans: Plans,
  operators: Operators,
  changes: Changes,
  start: Start,
};
