export { JOB_TOKENS } from './find-tokens.js';
export { type NftOptions, nftOptionsOf, nftPolicy, nftSettings } from './options.js';
export { REFRESH_EVERY_MS } from './run-job.js';
export { createNftWorker, type NftWorker } from './worker.js';
