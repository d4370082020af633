import { freshDatabase } from '@packhouse/local';
import pg from 'pg';
import { expect, inject, it } from 'vitest';
import { createQueues } from './create-queues.js';
import { context } from './testing/fixtures.js';

it('a connection that is ended while the queue makes its tables is an error for who opens it, and ends no process', {
  timeout: 120_000,
}, async () => {
  const database = await freshDatabase(inject('postgresUrl'));
  const [admin, watch] = [0, 1].map(() => new pg.Client({ connectionString: database.url })) as [
    pg.Client,
    pg.Client,
  ];
  await Promise.all([admin.connect(), watch.connect()]);
  try {
    // A session that would create the schema waits for the one that is about to.
    await admin.query('BEGIN');
    await admin.query('CREATE SCHEMA bullmq');
    const opening = createQueues({ databaseUrl: database.url, context });
    const refused = expect(opening).rejects.toMatchObject({ code: 'QUEUE_UNAVAILABLE' });
    await expect
      .poll(
        async () => {
          const { rows } = await watch.query(
            `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE application_name = 'packhouse-queue' AND wait_event_type = 'Lock' AND datname = current_database()`,
          );
          return rows.length;
        },
        { timeout: 120_000 },
      )
      .toBeGreaterThan(0);
    await refused;
  } finally {
    await Promise.all([admin.end(), watch.end()]);
    await database.drop();
  }
});
