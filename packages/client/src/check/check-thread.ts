import { parentPort } from 'node:worker_threads';
import { type CheckTask, checkFile } from './check-file.js';

// The program of a thread: it checks a file at a time, and answers each task with its verdict.
parentPort?.on('message', (task: CheckTask) => {
  void checkFile(task).then((verdict) => parentPort?.postMessage(verdict));
});
