import type { KeyObject } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { type AdoptSummary, adopt } from '@packhouse/audit';
import type { Database } from '@packhouse/database';
import { getKeyId, readPublicKeys, toPublicKey } from '@packhouse/manifest';
import type { Command } from 'commander';
import { withDatabase } from '../installation/connect.js';
import { commandContext } from '../installation/context.js';
import { findNetworks } from '../installation/find-networks.js';
import { addCommand, withDataDir } from '../terminal/command.js';
import { counted } from '../terminal/format.js';
import { type CliIo, drained, write } from '../terminal/io.js';
import { parseNetworkName, usageError } from '../terminal/parse.js';
import { findSigners, openStore } from './audit/places.js';

interface AdoptFlags {
  network?: string;
  trustKeyFile?: string;
  dryRun?: boolean;
  json?: boolean;
  dataDir?: string;
}

/** Exit code if something of the log cannot be adopted. */
const PARTIAL_EXIT = 2;
/** Time between reports of the progress, in milliseconds. */
const PROGRESS_MS = 5_000;

/** `packhouse adopt`. */
export function addAdoptCommand(program: Command, io: CliIo): void {
  withDataDir(
    addCommand(
      program,
      'adopt',
      'Rebuild index and manifest from the object store after the database was set back or lost',
      '--network ethereum --dry-run',
      '--network ethereum --trust-key-file keys.json',
    ),
  )
    .option('--network <id>', 'Only this network')
    .option(
      '--trust-key-file <path>',
      'Public keys to believe beside those of the database: PEM, or the JSON of a gateway',
    )
    .option('--dry-run', 'Change nothing; say what would be adopted')
    .option('--json', 'Print one JSON object per line: entry, progress, done')
    .addHelpText(
      'after',
      `
Uses DATABASE_URL, OBJECT_STORE and SIGNING_KEY_FILE, or those of a running \`packhouse local\`. Only files that the
signed log in the store names are believed. Safe to repeat, also after it was killed.`,
    )
    .action((flags: AdoptFlags) => run(io, flags));
}

async function run(io: CliIo, flags: AdoptFlags): Promise<void> {
  const context = commandContext(io);
  await withDatabase(io, flags, async (database) => {
    const objectStore = await openStore(io, context, flags.dataDir);
    try {
      const signers = flags.dryRun
        ? undefined
        : await findSigners(io, context, { database, dataDir: flags.dataDir });
      const keys = await trustedKeys(io, database, flags);
      const own = signers?.current();
      if (own !== undefined) keys.set(own.keyId, toPublicKey(own.publicKey));
      for (const network of await networksOf(io, database, flags)) {
        const progress = createProgress(io, flags, () => context.clock.elapsed());
        const summary = await adopt(
          { context, database, objectStore, keys, signers },
          {
            network,
            dryRun: flags.dryRun === true,
            onEntry(adoption, entry, fault) {
              progress(network);
              if (flags.json) {
                if (adoption === 'known') return;
                const { kind = null, from = null, to = null, sequence = null } = entry ?? {};
                write(io, { event: 'entry', network, kind, from, to, sequence, adoption, fault });
              } else if (fault !== null) write(io, fault);
            },
          },
          io.signal,
        );
        await drained(io);
        report(io, flags, summary);
        const { counts, broken } = summary;
        if (counts.missing + counts.damaged + counts.untrusted + broken.length > 0)
          io.exitCode = PARTIAL_EXIT;
      }
    } finally {
      await objectStore.close();
    }
  });
}

function createProgress(io: CliIo, { json }: AdoptFlags, elapsed: () => number): (network: string) => void {
  let [entries, reportedAt] = [0, elapsed()];
  return (network) => {
    entries += 1;
    if (elapsed() - reportedAt < PROGRESS_MS) return;
    reportedAt = elapsed();
    if (json) write(io, { event: 'progress', network, entries });
    else io.stderr.write(`… ${network}: ${counted(entries, 'entry', 'entries')}\n`);
  };
}

function report(io: CliIo, { json, dryRun }: AdoptFlags, summary: AdoptSummary): void {
  const { network, counts, lost, broken } = summary;
  if (json) {
    write(io, { event: 'done', dryRun: dryRun === true, ...summary });
    return;
  }
  for (const sentence of broken) write(io, sentence);
  const parts = [
    `${counts.known} known`,
    `${counts.restored} restored`,
    `${counts.readopted} under new entries`,
    ...(['covered', 'missing', 'damaged', 'untrusted'] as const)
      .filter((adoption) => counts[adoption] > 0)
      .map((adoption) => `${counts[adoption]} ${adoption}`),
  ];
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const change = dryRun === true ? ' Nothing was changed.' : '';
  write(io, `${network}: ${counted(total, 'signed entry', 'signed entries')}: ${parts.join(', ')}.${change}`);
  if (lost === null) return;
  const since = lost.since === null ? 'up to' : `from ${lost.since} to`;
  write(
    io,
    `The database lost what was changed ${since} ${lost.until}. API keys made, revoked or disabled then, plans, backfills and operators cannot be known from the store: check them (\`packhouse keys list\`).`,
  );
}

/** The keys of the database, of --trust-key-file, and of the signing key if its file is here. */
async function trustedKeys(
  io: CliIo,
  database: Database,
  { trustKeyFile }: AdoptFlags,
): Promise<Map<string, KeyObject>> {
  const rows = await database.manifest.keys();
  const keys = new Map(rows.map(({ publicKey }) => [getKeyId(publicKey), toPublicKey(publicKey)]));
  if (trustKeyFile === undefined) return keys;
  const file = path.resolve(io.cwd, trustKeyFile);
  if (!existsSync(file))
    throw usageError(`There is no file ${file} with public keys.`, 'Check --trust-key-file.');
  for (const [id, key] of readPublicKeys(await readFile(file, 'utf8'), file)) keys.set(id, key);
  return keys;
}

/** The named network, else those of the database and of the networks file. Throws USAGE. */
async function networksOf(io: CliIo, database: Database, flags: AdoptFlags): Promise<string[]> {
  if (flags.network !== undefined) return [parseNetworkName(flags.network)];
  const stored = (await database.networks.list()).map(({ id }) => id);
  const ids = [...new Set([...stored, ...(await findNetworks(io, flags.dataDir)).map(({ id }) => id)])];
  if (ids.length > 0) return ids;
  throw usageError('No network is known here.', 'Name it with --network, as its folder in the object store.');
}
