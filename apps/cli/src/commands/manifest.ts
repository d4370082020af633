import path from 'node:path';
import { listSigningKeys } from '@packhouse/operations';
import { rotateSigningKey } from '@packhouse/pipeline';
import type { Command } from 'commander';
import { withDatabase } from '../installation/connect.js';
import { namesDatabase } from '../installation/context.js';
import { DATA_DIRECTORY, runningDatabaseUrl } from '../installation/data-directory.js';
import { operate } from '../installation/operate.js';
import { addCommand, addPlacedCommand, type Place, withDataDir } from '../terminal/command.js';
import { type CliIo, print, printRows, table } from '../terminal/io.js';

type SigningKey = Awaited<ReturnType<typeof listSigningKeys.run>>[number];

interface RotateOptions extends Place {
  keyFile?: string;
}

/** `packhouse manifest keys|rotate`. */
export function addManifestCommand(program: Command, io: CliIo): void {
  const manifest = addCommand(program, 'manifest', 'List and rotate the signing keys of manifests', 'keys');

  addPlacedCommand(manifest, 'keys', 'List public keys').action(async (options: Place) => {
    const keys = await operate(io, options, listSigningKeys, {});
    await printRows(io, options, keys, {
      none: 'No signing key yet. The first packer creates it.',
      show: () => table([['KEY', 'PUBLIC KEY', 'STATE'], ...keys.map(keyLine)]),
    });
  });

  withDataDir(
    addCommand(
      manifest,
      'rotate',
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

function keyLine({ keyId, publicKey, createdAt, retiredAt }: SigningKey): string[] {
  const since = `since ${createdAt.toISOString()}`;
  const state = retiredAt === null ? `active ${since}` : `retired ${retiredAt.toISOString()}`;
  return [keyId, publicKey, state];
}
