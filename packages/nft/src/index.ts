export { JOB_TOKENS } from './find-tokens.js';
export { type NftOptions, nftPolicy, nftSettings, toNftOptions } from './options.js';
export { REFRESH_EVERY_MS } from './run-job.js';
export { createNftWorker, type NftWorker } from './worker.js';
