import { statement } from '../connection/statement.js';
import { KEY_COLUMNS } from './key-row.js';

/** All keys, oldest first. */
export const selectKeys = statement(
  'keys/select-keys',
  `SELECT ${KEY_COLUMNS}
   FROM packhouse.api_key AS k
   JOIN packhouse.application AS a ON a.id = k.application_id
   JOIN packhouse.plan AS p ON p.name = k.plan
   ORDER BY k.id`,
);
