/** A read of a screen: the path below /api/ with its query. */
type Read = string;

/**
 * What each screen reads when it is opened, in steps: reads of a step are sent at once, a step after the answers of the
 * one before. `IDS` are those of the backfills that the step before listed.
 */
export const SCREENS: Readonly<Record<string, readonly (readonly Read[])[]>> = {
  Overview: [['findings', 'overview', 'keys?limit=2', 'history/sparklines?of=network', 'history?last=1h']],
  Alarms: [['alarms']],
  'Coverage of a network': [
    [
      'coverage/map?network=net-007&columns=1000',
      'coverage/holes?network=net-007&from=0&to=1050000&limit=50',
    ],
  ],
  'Coverage of the largest network': [
    [
      'coverage/map?network=net-000&columns=1000',
      'coverage/holes?network=net-000&from=0&to=1050000&limit=50',
    ],
  ],
  Backfills: [['backfills?limit=50'], ['backfills/progress?ids=IDS']],
  'Backfills of the largest network': [
    ['backfills?network=net-000&limit=50'],
    ['backfills/progress?ids=IDS'],
  ],
  'Backfills, the last page': [['backfills?after=10150&limit=50'], ['backfills/progress?ids=IDS']],
  'Backfills, a search': [['backfills?search=team-7&limit=50'], ['backfills/progress?ids=IDS']],
  'A backfill': [['backfills/show?id=3001']],
  Schedules: [['schedules']],
  Quarantine: [['quarantine/causes', 'quarantine?limit=50']],
  Files: [
    ['files/newest?network=net-007', 'audits?network=net-007', 'manifest/keys', 'lake?network=net-007'],
  ],
  'Files of the largest network': [['files/newest?network=net-000', 'audits?network=net-000']],
  Webhooks: [['hooks']],
  Notifications: [['notifications']],
  Nodes: [['nodes?limit=1000', 'history/sparklines?of=node']],
  Budgets: [['budgets', 'spending/upstreams', 'spending/owners']],
  Workers: [['workers']],
  'API keys': [['applications?limit=100']],
  'API keys, a search': [['applications?search=application-42&limit=100']],
  Plans: [['plans']],
  Operators: [['operators', 'sign-ins']],
  'Audit log': [['changes?limit=100']],
};

/** What the menu beside each screen reads. */
export const MENU: readonly Read[] = ['networks', 'alarms?cleared=false'];
