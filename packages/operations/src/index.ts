export { clearAlarm, listAlarms } from './alarms.js';
export { type Operation, type OperationParts, ROLES, type Role } from './operation.js';
export { OPERATIONS } from './operations.js';
export { drainWorker, listWorkers } from './workers.js';
