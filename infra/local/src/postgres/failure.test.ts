import { expect, it } from 'vitest';
import { postgresFailure } from './failure.js';

it('an account that the machine does not know is named, with what to do', () => {
  const said = 'initdb: could not look up effective user ID 4242: user does not exist\n';
  expect(postgresFailure(said, '/data')).toMatchObject({
    code: 'CHILD_FAILED',
    message:
      'Postgres runs only under an account that /etc/passwd has: initdb: could not look up effective user ID 4242: user does not exist.',
    hint: 'Run Packhouse under such an account, or set DATABASE_URL to a Postgres of your own.',
  });
});
