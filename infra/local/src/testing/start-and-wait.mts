import { startPostgres } from '../postgres/postgres.js';

// Started by a test: one line of JSON when Postgres runs, then nothing until SIGTERM.
const postgres = await startPostgres({
  directory: process.argv[2] as string,
  settings: { shared_buffers: '16MB', fsync: 'off' },
});
process.stdout.write(`${JSON.stringify({ url: postgres.url, pid: postgres.pid })}\n`);
const waiting = setInterval(() => {}, 60_000);
process.once('SIGTERM', async () => {
  await postgres.stop();
  clearInterval(waiting);
});
