import { createDatabase, type Database } from '@packhouse/database';
import { silentContext } from '@packhouse/local';

/** Opens a test's database as Packhouse does. */
export function openDatabase(connectionString: string): Database {
  return createDatabase({
    connectionString,
    context: silentContext(),
    applicationName: 'test',
  });
}
