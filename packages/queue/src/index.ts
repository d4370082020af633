export { createQueues, type QueuesOptions } from './create-queues.js';
export type { Job, JobCounts, JobPayloads, JobRequest, QueueName, Queues, Worker } from './queues.js';
