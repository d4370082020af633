export { type LocalPostgres, type StartPostgresOptions, startPostgres } from './postgres.js';
