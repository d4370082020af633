import { rm } from 'node:fs/promises';
import { recordedHome } from './postgres-home.js';

/** Deletes a stopped Postgres's folder, and its data where that is somewhere else. */
export async function removePostgres(directory: string): Promise<void> {
  const home = await recordedHome(directory);
  await rm(home, { recursive: true, force: true });
  await rm(directory, { recursive: true, force: true });
}
