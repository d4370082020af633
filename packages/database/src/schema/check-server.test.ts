import { expect, it } from 'vitest';
import { checkServer } from './check-server.js';

it('takes Postgres 14 and newer, and names the version of an older one', () => {
  checkServer(140_000, 'host');
  checkServer(180_004, 'host');
  expect(() => checkServer(130_014, 'db.example:5432/packs')).toThrow(
    'Postgres at db.example:5432/packs has version 13, expected 14 or newer.',
  );
});
