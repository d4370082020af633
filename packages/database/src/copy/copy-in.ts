import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from } from 'pg-copy-streams';

/** Runs a `COPY … FROM STDIN (FORMAT binary)` with the encoder's chunks. */
export async function copyIn(client: pg.ClientBase, text: string, chunks: readonly Buffer[]): Promise<void> {
  await pipeline(Readable.from(chunks, { objectMode: true }), client.query(from(text)));
}
