// `node open-copy.js URL`: opens a COPY under the lock that every stage of network 1 needs, says so, and stays.
import { POSTGRES_SESSION } from '@packhouse/runtime';
import pg from 'pg';

const NETWORK_LOCKS = 0x50_47_00_00;

const client = new pg.Client({ connectionString: process.argv[2], application_name: 'packhouse ingester' });
client.on('error', () => undefined);
await client.connect();
await client.query(POSTGRES_SESSION);
await client.query(
  `BEGIN; SELECT pg_advisory_xact_lock(${NETWORK_LOCKS}, 1); CREATE TEMP TABLE half (text text)`,
);
/** A statement of the driver that never sends the end of its COPY. */
client.query({
  submit: (connection: pg.Connection) => connection.query('COPY half FROM STDIN'),
  handleCopyInResponse: (connection: pg.Connection) => {
    (connection as unknown as { sendCopyFromChunk(chunk: Buffer): void }).sendCopyFromChunk(
      Buffer.from('row\n'),
    );
    process.stdout.write('open\n');
  },
  handleError: () => undefined,
} as unknown as pg.Submittable);
