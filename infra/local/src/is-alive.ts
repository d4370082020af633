import { processStart } from './process-start.js';

/** Whether a process of this number runs, whoever's it is; one that has ended and was not waited for yet does not. */
export function isAlive(pid: number): boolean {
  return processStart(pid) !== null;
}
