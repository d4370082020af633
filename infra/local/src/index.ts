export { type Anvil, type StartAnvilOptions, startAnvil } from './anvil.js';
export { type DemoChain, type StartDemoChainOptions, startDemoChain } from './demo/demo-chain.js';
export { demoNetwork } from './demo/demo-network.js';
export { type FreshDatabase, freshDatabase } from './fresh-database.js';
export { type LocalPostgres, type StartPostgresOptions, startPostgres } from './postgres.js';
export { processStart } from './process-start.js';
export { removePostgres } from './remove-postgres.js';
export { runSql } from './run-sql.js';
