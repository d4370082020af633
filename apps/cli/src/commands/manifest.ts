import path from 'node:path';
import { listSigningKeys } from '@packhouse/operations';
import { rotateSigningKey } from '@packhouse/pipeline';
import type { Command } from 'commander';
import { withDatabase } from '../installation/connect.js';
import { namesDatabase } from '../installation/context.js';
import { DATA_DIRECTORY, runningDatabaseUrl } from '../installation/data-directory.js';
import { list, resource } from '../installation/resource.js';
import { addCommand, type Place, withDataDir } from '../terminal/command.js';
import { type CliIo, print } from '../terminal/io.js';

interface RotateOptions extends Place {
  keyFile?: string;
}

export const addManifestCommand = resource(
  'manifest',
  'List and rotate the signing keys of manifests',
  'keys',
  {
    keys: list(listSigningKeys, {
      about: 'List public keys',
      empty: 'No signing key yet. The first packer creates it.',
      columns: {
        KEY: (key) => key.keyId,
        'PUBLIC KEY': (key) => key.publicKey,
        STATE: ({ createdAt, retiredAt }) =>
          retiredAt === null
            ? `active since ${createdAt.toISOString()}`
            : `retired ${retiredAt.toISOString()}`,
      },
    }),
    rotate: addRotateCommand,
  },
);

function addRotateCommand(group: Command, io: CliIo, name: string): void {
  withDataDir(
    addCommand(
      group,
      name,
      'Retire the signing key and create a new one; entries that are already signed stay valid',
      '--key-file ./signing-key.pem',
    ),
  )
    .option(
      '--key-file <path>',
      'File of the private key (default: SIGNING_KEY_FILE, or that of a running `packhouse local`)',
    )
    .option('--json', 'Print one JSON object')
    .action(async (options: RotateOptions) => {
      const file = keyFile(io, options);
      const done = await withDatabase(io, options, (database) => rotateSigningKey({ database, file }));
      if (options.json) {
        await print(io, { ...done, file });
        return;
      }
      await print(io, `New entries are signed with key ${done.keyId}, stored in ${file}.`);
      if (done.retired !== null)
        await print(io, `Key ${done.retired} retired. Entries that it signed stay valid.`);
      if (done.movedTo !== null) await print(io, `Its file is now ${done.movedTo} and no longer needed.`);
      await print(
        io,
        'Packers that share this file use the new key automatically. Copy it to the others, and keep a backup.',
      );
    });
}

function keyFile(io: CliIo, { keyFile: given, dataDir }: RotateOptions): string {
  const named = given ?? (io.env.SIGNING_KEY_FILE || undefined);
  if (named !== undefined) return path.resolve(io.cwd, named);
  const local = !namesDatabase(io) && runningDatabaseUrl(io.cwd, dataDir) !== undefined;
  return path.resolve(io.cwd, local ? (dataDir ?? DATA_DIRECTORY) : '.', 'signing-key.pem');
}
