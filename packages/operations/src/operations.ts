import { clearAlarm, listAlarms } from './alarms.js';
import { listNetworks, readCoverageMap, readHoles } from './coverage.js';
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
import { drainWorker, listWorkers } from './workers.js';

/** All operations. */
export const OPERATIONS: readonly Operation[] = [
  ...[listAlarms, clearAlarm],
  ...[listNetworks, readCoverageMap, readHoles],
  ...[listWorkers, drainWorker],
  ...[listOperators, addOperator, setOperator, removeOperator, makeLink, makeToken, dropTokens],
];
