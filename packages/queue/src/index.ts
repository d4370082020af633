export { createQueueReader, type QueueReader } from './create-queue-reader.js';
export { createQueues, type QueuesOptions } from './create-queues.js';
export type {
  Job,
  JobCounts,
  JobPayloads,
  JobRequest,
  QueueLook,
  QueueName,
  Queues,
  Worker,
} from './queues.js';
