import { statement } from '../connection/statement.js';
import { KEY_COLUMNS } from './key-row.js';

/** $1 sha256 of the whole key. One walk down the unique index. */
export const selectKey = statement(
  'keys/select-key',
  `SELECT ${KEY_COLUMNS}
   FROM packhouse.api_key AS k
   JOIN packhouse.application AS a ON a.id = k.application_id
   JOIN packhouse.plan AS p ON p.name = k.plan
   WHERE k.sha256 = $1`,
);
