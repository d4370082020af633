import { clearAlarm, listAlarms } from './alarms.js';
import {
  addBackfill,
  backfillProgress,
  listBackfills,
  setBackfill,
  showBackfill,
  steerBackfill,
} from './backfills.js';
import { listBudgets, removeBudget, setBudget } from './budgets.js';
import { listChanges } from './changes.js';
import { listNetworks, readCoverage, readCoverageMap, readHoles } from './coverage.js';
import { listAudits, locateBlock, newestFiles, showFile } from './files.js';
import { keyUsage } from './key-usage.js';
import { createKey, listKeys, revokeKey } from './keys.js';
import { listSigningKeys } from './manifest.js';
import { cordonNode, listNodes, uncordonNode } from './nodes.js';
import type { Operation } from './operation.js';
import {
  addOperator,
  dropTokens,
  listOperators,
  makeLink,
  makeToken,
  removeOperator,
  setOperator,
} from './operators.js';
import { ownLimits, ownNetworks, ownUsage } from './own.js';
import { listPlans, setPlan } from './plans.js';
import { listQuarantine, quarantineCauses, retryQuarantine, showQuarantined } from './quarantine.js';
import { quoteBackfill } from './quote.js';
import { addSchedule, listSchedules, scheduleHistory, steerSchedule } from './schedules.js';
import { ownerSpending, upstreamSpending } from './spending.js';
import { readOverview, readStatus } from './status.js';
import { drainWorker, listWorkers } from './workers.js';

/** All operations. */
export const OPERATIONS: readonly Operation[] = [
  ...[readOverview, readStatus],
  ...[listAlarms, clearAlarm],
  ...[listNetworks, readCoverage, readCoverageMap, readHoles],
  ...[listBackfills, backfillProgress, showBackfill, addBackfill, setBackfill, steerBackfill, quoteBackfill],
  ...[listSchedules, scheduleHistory, addSchedule, steerSchedule],
  ...[listBudgets, setBudget, removeBudget, upstreamSpending, ownerSpending],
  ...[listWorkers, drainWorker],
  ...[listNodes, cordonNode, uncordonNode],
  ...[listQuarantine, quarantineCauses, showQuarantined, retryQuarantine],
  ...[listKeys, createKey, keyUsage, revokeKey, listPlans, setPlan],
  ...[ownUsage, ownLimits, ownNetworks],
  ...[listChanges, listSigningKeys],
  ...[newestFiles, locateBlock, showFile, listAudits],
  ...[listOperators, addOperator, setOperator, removeOperator, makeLink, makeToken, dropTokens],
];
