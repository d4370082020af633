export { downloadAll, type KeyHolder } from './download-all.js';
export { atShare, median, toTable } from './figures.js';
export { listProcesses, type Process, processTree, readProcess, TICKS_A_SECOND } from './processes.js';
export {
  getOutput,
  type ReplayProcess,
  startGateway,
  startNode,
  startReplay,
  startService,
  withScope,
} from './programs.js';
