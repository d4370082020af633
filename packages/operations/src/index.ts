export { clearAlarm, listAlarms } from './alarms.js';
export { checkTerms, type Terms } from './backfill-terms.js';
export {
  addBackfill,
  type BackfillReport,
  listBackfills,
  setBackfill,
  showBackfill,
  steerBackfill,
} from './backfills.js';
export { type BudgetRow, listBudgets, removeBudget, setBudget } from './budgets.js';
export { listNetworks, readCoverage } from './coverage.js';
export { fileAt } from './files.js';
export { findNetwork } from './find-network.js';
export { keyUsage } from './key-usage.js';
export { createKey, listKeys, type PublicKey, revokeKey } from './keys.js';
export { listSigningKeys } from './manifest.js';
export { cordonNode, listNodes, type NodeStanding, uncordonNode } from './nodes.js';
export { type Operation, type OperationParts, ROLES, type Role } from './operation.js';
export { OPERATIONS } from './operations.js';
export {
  addOperator,
  dropTokens,
  listOperators,
  makeLink,
  makeToken,
  removeOperator,
  setOperator,
} from './operators.js';
export { isPassword } from './passwords.js';
export { listPlans, type PublicPlan, setPlan } from './plans.js';
export { listQuarantine, retryQuarantine, showQuarantined } from './quarantine.js';
export type { KindStanding } from './quarantine-advice.js';
export { makeQuote, quotedNetwork } from './quote.js';
export { readInput } from './read-input.js';
export {
  addSchedule,
  listSchedules,
  type PublicSchedule,
  scheduleHistory,
  steerSchedule,
} from './schedules.js';
export { csrfOf, hashOf, isSame, makeSecret } from './secrets.js';
export { ownerSpending, type SpentRow, upstreamSpending } from './spending.js';
export { type AuditStanding, type FullStatus, readOverview, readStatus } from './status.js';
export { drainWorker, listWorkers } from './workers.js';
