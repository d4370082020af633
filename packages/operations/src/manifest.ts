import { z } from 'zod';
import { operation } from './operation.js';

export const listSigningKeys = operation({
  name: 'manifest/keys',
  kind: 'read',
  role: 'viewer',
  summary: 'The public keys that published files are signed with, the oldest first.',
  input: z.object({}),
  run: async ({ database }) =>
    (await database.manifest.keys()).map(({ publicKey, ...key }) => ({
      ...key,
      publicKey: publicKey.toString('base64'),
    })),
});
