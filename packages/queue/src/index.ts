export { createQueueReader, type QueueReader } from './create-queue-reader.js';
export { createQueues } from './create-queues.js';
export type { Job, JobPayloads, JobRequest, QueueName, Queues, Worker } from './queues.js';
