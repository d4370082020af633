export {
  type BoardQueues,
  createQueueReader,
  openQueuesForBoard,
  type QueueReader,
} from './create-queue-reader.js';
export { createQueues } from './create-queues.js';
export { checkCron, lastDues, nextDue } from './cron.js';
export type { Job, JobPayloads, JobRequest, QueueName, Queues, Recurring, Worker } from './queues.js';
export { openRedisChannel } from './redis-channel.js';
