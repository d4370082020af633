import path from 'node:path';
import { listSigningKeys } from '@packhouse/operations';
import { rotateSigningKey } from '@packhouse/pipeline';
import type { Command } from 'commander';
import { withDatabase } from '../installation/connect.js';
import { DATA_DIRECTORY, runningDatabaseUrl } from '../installation/data-directory.js';
import { operate } from '../installation/operate.js';
import { type CliIo, print, table } from '../terminal/io.js';
import { withPlace } from '../terminal/place.js';

type SigningKey = Awaited<ReturnType<typeof listSigningKeys.run>>[number];

interface Options {
  server?: string;
  keyFile?: string;
  dataDir?: string;
  json?: boolean;
}

/** `packhouse manifest keys|rotate`. */
export function addManifestCommand(program: Command, io: CliIo): void {
  const manifest = program
    .command('manifest')
    .description('the keys that published files are signed with')
    .addHelpText('after', '\nExample:\n  $ packhouse manifest keys');

  withPlace(manifest.command('keys'))
    .description('list the public keys')
    .addHelpText('after', '\nExample:\n  $ packhouse manifest keys')
    .action(async (options: Options) => {
      const keys = await operate(io, options, listSigningKeys, {});
      if (options.json) for (const key of keys) await print(io, key);
      else if (keys.length === 0) await print(io, 'There is no key yet: the first packer makes it.');
      else await print(io, table([['KEY', 'PUBLIC KEY', 'STATE'], ...keys.map(keyLine)]));
    });

  manifest
    .command('rotate')
    .description('retire the signing key and sign with a new one; entries already signed stay valid')
    .option(
      '--key-file <path>',
      'the private key (default SIGNING_KEY_FILE, or that of a running `packhouse local`)',
    )
    .option('--data-dir <dir>', 'the data folder of a running `packhouse local`')
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  $ packhouse manifest rotate --key-file ./signing-key.pem')
    .action(async (options: Options) => {
      const file = keyFile(io, options);
      const done = await withDatabase(io, options, (database) => rotateSigningKey({ database, file }));
      if (options.json) {
        await print(io, { ...done, file });
        return;
      }
      await print(io, `Entries are signed with key ${done.keyId} from now on; its file is ${file}.`);
      if (done.retired !== null)
        await print(io, `Key ${done.retired} is retired; what it signed stays valid.`);
      if (done.movedTo !== null)
        await print(io, `Its file was moved to ${done.movedTo} and is not needed any more.`);
      await print(
        io,
        'Packers that share this file use it by themselves; copy it to the others, and keep a copy.',
      );
    });
}

function keyFile(io: CliIo, { keyFile: given, dataDir }: Options): string {
  const named = given ?? (io.env.SIGNING_KEY_FILE || undefined);
  if (named !== undefined) return path.resolve(io.cwd, named);
  const local = !io.env.DATABASE_URL && runningDatabaseUrl(io.cwd, dataDir) !== undefined;
  return path.resolve(io.cwd, local ? (dataDir ?? DATA_DIRECTORY) : '.', 'signing-key.pem');
}

function keyLine({ keyId, publicKey, createdAt, retiredAt }: SigningKey): string[] {
  const since = `since ${createdAt.toISOString()}`;
  const state = retiredAt === null ? `signs ${since}` : `retired ${retiredAt.toISOString()}`;
  return [keyId, publicKey, state];
}
