import { statement } from '../connection/statement.js';

/** $1 producer, $2 clients (text[]). */
export const insertOrigin = statement(
  'manifest/insert-origin',
  `INSERT INTO packhouse.manifest_origin (producer, clients)
   VALUES ($1::text, $2::text[])
   ON CONFLICT (producer, clients) DO NOTHING`,
);
