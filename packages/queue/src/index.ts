export { createQueues, type QueuesOptions } from './create-queues.js';
export type { Job, JobPayloads, JobRequest, QueueName, Queues, Worker } from './queues.js';
