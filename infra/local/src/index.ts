export { type FreshDatabase, freshDatabase } from './fresh-database.js';
export { type LocalPostgres, type StartPostgresOptions, startPostgres } from './postgres.js';
export { removePostgres } from './remove-postgres.js';
