import * as alarms from './alarms.js';
import * as applications from './applications/applications.js';
import * as backfills from './backfills/backfills.js';
import * as quote from './backfills/quote.js';
import * as budgets from './budgets/budgets.js';
import * as spending from './budgets/spending.js';
import * as changes from './changes.js';
import * as coverage from './coverage/coverage.js';
import * as files from './coverage/files.js';
import * as quarantine from './coverage/quarantine.js';
import * as status from './coverage/status.js';
import * as findings from './findings/findings.js';
import * as history from './history/history.js';
import * as sparklines from './history/sparklines.js';
import * as hooks from './hooks/hooks.js';
import * as changeKey from './keys/change-key.js';
import * as keyLog from './keys/key-log.js';
import * as keyUsage from './keys/key-usage.js';
import * as keys from './keys/keys.js';
import * as own from './keys/own.js';
import * as plans from './keys/plans.js';
import * as restrict from './keys/restrict-application.js';
import * as usageSeries from './keys/usage-series.js';
import * as lake from './lake/lake.js';
import * as nodes from './nodes/nodes.js';
import * as testNode from './nodes/test-node.js';
import * as workers from './nodes/workers.js';
import * as notifications from './notifications/notifications.js';
import type { Operation } from './operation/operation.js';
import * as operators from './operators/operators.js';
import * as schedules from './schedules/schedules.js';

/** All operations; the console's pages take the types of its answers from this table. */
export const OPERATIONS = [
  status.readOverview,
  status.readStatus,
  history.readHistory,
  sparklines.readSparklines,
  findings.listFindings,
  alarms.listAlarms,
  alarms.clearAlarm,
  coverage.listNetworks,
  coverage.readCoverage,
  coverage.readCoverageMap,
  coverage.readHoles,
  backfills.listBackfills,
  backfills.backfillOwners,
  backfills.backfillProgress,
  backfills.showBackfill,
  backfills.addBackfill,
  backfills.setBackfill,
  backfills.setBackfillState,
  backfills.setBackfillStates,
  backfills.retryBackfills,
  quote.quoteBackfill,
  schedules.listSchedules,
  schedules.scheduleHistory,
  schedules.addSchedule,
  schedules.removeSchedule,
  schedules.runSchedule,
  schedules.setScheduleState,
  hooks.listHooks,
  hooks.showHook,
  hooks.addHook,
  hooks.setHook,
  hooks.setHookState,
  hooks.rotateHook,
  hooks.testHook,
  hooks.removeHook,
  notifications.listNotifications,
  notifications.showNotification,
  notifications.addNotification,
  notifications.setNotification,
  notifications.rotateNotification,
  notifications.setNotificationState,
  notifications.testNotification,
  notifications.removeNotification,
  budgets.listBudgets,
  budgets.setBudget,
  budgets.removeBudget,
  spending.upstreamSpending,
  spending.ownerSpending,
  workers.listWorkers,
  workers.drainWorker,
  nodes.listNodes,
  nodes.cordonNode,
  nodes.uncordonNode,
  testNode.testNode,
  quarantine.listQuarantine,
  quarantine.quarantineCauses,
  quarantine.showQuarantined,
  quarantine.retryQuarantine,
  applications.listApplications,
  applications.showApplication,
  applications.addApplication,
  applications.setApplication,
  applications.archiveApplication,
  applications.restoreApplication,
  restrict.restrictApplication,
  keys.listKeys,
  keys.createKey,
  keyUsage.keyUsage,
  usageSeries.keyUsageSeries,
  keys.revokeKey,
  changeKey.setKey,
  changeKey.rotateKey,
  keyLog.logKey,
  keyLog.keyRequests,
  keyLog.logOwn,
  keyLog.ownRequests,
  plans.listPlans,
  plans.setPlan,
  own.ownUsage,
  usageSeries.ownUsageSeries,
  own.ownLimits,
  own.ownNetworks,
  history.ownHistory,
  changes.listChanges,
  lake.listLakeTables,
  lake.setLakeState,
  lake.setLake,
  lake.rebuildLake,
  files.listSigningKeys,
  files.newestFiles,
  files.locateBlock,
  files.showFile,
  files.listAudits,
  operators.listOperators,
  operators.addOperator,
  operators.setOperator,
  operators.removeOperator,
  operators.makeLink,
  operators.makeToken,
  operators.dropTokens,
  operators.listSignIns,
] as const satisfies readonly Operation[];
