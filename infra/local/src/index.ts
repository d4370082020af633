export { type Anvil, startAnvil } from './anvil/anvil.js';
export { startDemoChain } from './demo/demo-chain.js';
export { type FreshDatabase, freshDatabase, runSql } from './fresh-database.js';
export { removePostgres } from './postgres/home.js';
export { type LocalPostgres, startPostgres } from './postgres/postgres.js';
export { freePort } from './process/free-port.js';
export { processStart } from './process/process-start.js';
export { type LocalRedis, redisInstalled, startRedis } from './redis.js';
export { type StallingProxy, startStallingProxy } from './stalling-proxy.js';
