export type { Job, JobPayloads, JobRequest, QueueName, Queues, Worker } from './queues.js';
