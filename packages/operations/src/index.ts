export { clearAlarm, listAlarms } from './alarms.js';
export {
  addApplication,
  archiveApplication,
  listApplications,
  restoreApplication,
  setApplication,
  showApplication,
} from './applications/applications.js';
export { checkTerms, type Terms } from './backfills/backfill-terms.js';
export {
  addBackfill,
  type BackfillReport,
  listBackfills,
  setBackfill,
  setBackfillState,
  showBackfill,
} from './backfills/backfills.js';
export { findQuotedNetwork, makeQuote } from './backfills/quote.js';
export { type BudgetRow, listBudgets, removeBudget, setBudget } from './budgets/budgets.js';
export { ownerSpending, type SpentRow, upstreamSpending } from './budgets/spending.js';
export { listNetworks, readCoverage } from './coverage/coverage.js';
export { findFile, listSigningKeys } from './coverage/files.js';
export {
  listQuarantine,
  type QuarantineEntry,
  retryQuarantine,
  showQuarantined,
} from './coverage/quarantine.js';
export type { KindState } from './coverage/quarantine-advice.js';
export { type AuditState, type FullStatus, readOverview, readStatus } from './coverage/status.js';
export { askChainId } from './doctor/ask-chain-id.js';
export { type Cell, type Chart, COLUMNS, type Level } from './doctor/chart.js';
export { examine } from './doctor/examine.js';
export {
  addHook,
  listHooks,
  removeHook,
  rotateHook,
  setHook,
  setHookState,
  showHook,
  testHook,
} from './hooks/hooks.js';
export { rotateKey, setKey } from './keys/change-key.js';
export { keyRequests, logKey } from './keys/key-log.js';
export { isAllowedClient } from './keys/key-restrictions.js';
export { keyUsage } from './keys/key-usage.js';
export { createKey, listKeys, type PublicKey, revokeKey } from './keys/keys.js';
export { listPlans, type PublicPlan, setPlan } from './keys/plans.js';
export { restrictApplication } from './keys/restrict-application.js';
export { listLakeTables, rebuildLake, setLake, setLakeState } from './lake/lake.js';
export { cordonNode, listNodes, type NodeState, uncordonNode } from './nodes/nodes.js';
export { drainWorker, listWorkers } from './nodes/workers.js';
export {
  addNotification,
  listNotifications,
  removeNotification,
  rotateNotification,
  setNotification,
  setNotificationState,
  showNotification,
  testNotification,
} from './notifications/notifications.js';
export { findNetwork } from './operation/find-network.js';
export { type Operation, type OperationParts, ROLES, type Role } from './operation/operation.js';
export { readInput } from './operation/read-input.js';
export { OPERATIONS } from './operations.js';
export {
  addOperator,
  dropTokens,
  listOperators,
  listSignIns,
  makeLink,
  makeToken,
  removeOperator,
  setOperator,
} from './operators/operators.js';
export { isPassword, withPasswordCheck } from './operators/passwords.js';
export { getCsrf, getHash, isSame, isSealed, makeSecret } from './operators/secrets.js';
export {
  addSchedule,
  listSchedules,
  type PublicSchedule,
  removeSchedule,
  runSchedule,
  scheduleHistory,
  setScheduleState,
} from './schedules/schedules.js';
