export { clearAlarm, listAlarms } from './alarms.js';
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
export { readInput } from './read-input.js';
export { csrfOf, hashOf, isSame, makeSecret } from './secrets.js';
export { drainWorker, listWorkers } from './workers.js';
