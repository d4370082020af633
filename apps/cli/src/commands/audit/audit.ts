import { type AuditRequest, deleteOrphans, type Orphan, runAudit } from '@packhouse/audit';
import { isKind, KINDS, type ProofPolicy } from '@packhouse/chain';
import type { Database } from '@packhouse/database';
import { findNetwork } from '@packhouse/operations';
import { type Context, PackhouseError } from '@packhouse/runtime';
import type { Command } from 'commander';
import { withDatabase } from '../../installation/connect.js';
import { commandContext } from '../../installation/context.js';
import { findNetworks } from '../../installation/find-networks.js';
import { addCommand, withDataDir } from '../../terminal/command.js';
import { type CliIo, drained, OutputEnded } from '../../terminal/io.js';
import {
  checkRange,
  parseBlockNumber,
  parseKinds,
  parseNetworkName,
  usageError,
} from '../../terminal/parse.js';
import { findSigners, openStore, repairFrom } from './places.js';
import { type AuditPrinter, createAuditPrinter } from './printer.js';

interface AuditFlags {
  network?: string;
  kinds: string;
  from?: string;
  to?: string;
  sample?: string;
  seed?: string;
  repair?: boolean;
  deleteOrphans?: boolean;
  json?: boolean;
  dataDir?: string;
}

/** Exit code if damage remains. */
const DAMAGE_EXIT = 2;
/** Exit code after Ctrl-C, as in shells. */
const STOPPED_EXIT = 130;

/** `packhouse audit`. */
export function addAuditCommand(program: Command, io: CliIo): void {
  withDataDir(
    addCommand(
      program,
      'audit',
      'Verify published objects: bytes, format, hashes, proofs and index; exit code 2 if damage remains',
      '--network ethereum --from 17000000 --to 17999999 --sample 0.01',
      '--repair',
    ),
  )
    .option('--network <id>', 'Only this network')
    .option('--kinds <list>', `Comma-separated kinds: ${KINDS.join(', ')}`, 'all')
    .option('--from <block>', 'First block')
    .option('--to <block>', 'Last block')
    .option('--sample <share>', 'Share of the bundles to sample, above 0 and up to 1 (default: 1)')
    .option('--seed <text>', "Seed of the sample (default: today's date)")
    .option(
      '--repair',
      'Rebuild damaged bundles from the nodes, published as a new version, and data files of the lake',
    )
    .option('--delete-orphans', 'Delete unindexed objects that are older than an hour')
    .option('--json', 'Print one JSON object per line: finding, progress, repair, rebuild, deleted, done')
    .addHelpText(
      'after',
      `
Uses DATABASE_URL and OBJECT_STORE and, with --repair, NETWORKS_FILE and SIGNING_KEY_FILE, or those of a running
\`packhouse local\`. Without the signing key, a packer signs the repaired bundles.
Damaged data files of the lake are rebuilt by a packer with LAKE=on, within seconds.
Unindexed objects are reported but are no damage: a killed packer leaves them.`,
    )
    .action((flags: AuditFlags) => runCommand(io, flags));
}

async function runCommand(io: CliIo, flags: AuditFlags): Promise<void> {
  const context = commandContext(io);
  const request = auditRequest(flags, new Date(context.clock.now()));
  const printer = createAuditPrinter(io, flags.json === true, () => context.clock.elapsed());
  try {
    await auditWith(io, context, flags, request, printer);
  } catch (error) {
    if (!io.signal.aborted || io.signal.reason instanceof OutputEnded) throw error;
    printer.stopped();
    io.exitCode = STOPPED_EXIT;
  }
}

async function auditWith(
  io: CliIo,
  context: Context,
  flags: AuditFlags,
  request: ReturnType<typeof auditRequest>,
  printer: AuditPrinter,
): Promise<void> {
  await withDatabase(io, flags, async (database) => {
    const networks = await auditedNetworks(database, flags.network);
    const known = await findNetworks(io, flags.dataDir);
    const getPolicy = (id: string): ProofPolicy | undefined => known.find((each) => each.id === id)?.proofs;
    const objectStore = await openStore(io, context, flags.dataDir);
    try {
      const orphans: Orphan[] = [];
      const parts = { context, database, objectStore };
      const repairing = flags.repair === true;
      const signers = repairing
        ? await findSigners(io, context, { database, dataDir: flags.dataDir })
        : undefined;
      const outcome = await runAudit(
        { ...parts, getPolicy },
        { ...request, networks },
        {
          onFinding(finding) {
            printer.finding(finding);
            const { cause, network, kind, from: firstBlock, key } = finding;
            if (cause === 'orphan' && kind !== null && isKind(kind) && firstBlock !== null && key !== null) {
              orphans.push({ network, kind, firstBlock, key });
            }
          },
          onChecked: (_, __, counts) => printer.checked(counts),
          // A slow reader of the output slows the audit down.
          pace: () => drained(io),
          onRepair: (repair) => printer.repair(repair),
          openRepair: repairing ? repairFrom(context, known, signers) : undefined,
          rebuildLake: repairing,
          onRebuild: (finding) => printer.rebuild(finding),
        },
        io.signal,
      );
      if (flags.deleteOrphans === true) printer.deleted(await deleteOrphans(parts, orphans, io.signal));
      printer.done(outcome, await unsigned(database, networks));
      io.exitCode = outcome.standing > 0 ? DAMAGE_EXIT : 0;
    } finally {
      await objectStore.close();
    }
  });
}

/** Bundles of these networks that wait for their entry of the manifest. */
async function unsigned(database: Database, networks: readonly string[]): Promise<number> {
  const pending = await database.manifest.pending();
  return pending.reduce((sum, { network, entries }) => sum + (networks.includes(network) ? entries : 0), 0);
}

/** The request without its networks. Throws RANGE_INVALID, KIND_UNKNOWN, USAGE. */
function auditRequest(flags: AuditFlags, today: Date): Omit<AuditRequest, 'networks'> {
  const firstBlock = flags.from === undefined ? 0 : parseBlockNumber(flags.from, '--from');
  const lastBlock = flags.to === undefined ? Number.MAX_SAFE_INTEGER : parseBlockNumber(flags.to, '--to');
  checkRange(firstBlock, lastBlock);
  const sample = flags.sample === undefined ? 1 : parseShare(flags.sample);
  if (sample < 1 && flags.deleteOrphans === true) {
    throw usageError('--delete-orphans cannot be combined with --sample.', 'Leave one of them out.');
  }
  return {
    kinds: parseKinds(flags.kinds),
    range: { firstBlock, lastBlock },
    sample,
    seed: flags.seed ?? today.toISOString().slice(0, 10),
    objects: sample === 1,
  };
}

/** The named network, else all of the database. Throws NETWORK_UNKNOWN, AUDIT_EMPTY. */
async function auditedNetworks(database: Database, name: string | undefined): Promise<string[]> {
  const known = (await database.networks.list()).map(({ id }) => id);
  if (name === undefined && known.length > 0) return known;
  if (name === undefined) {
    throw new PackhouseError({
      code: 'AUDIT_EMPTY',
      message: 'There are no networks yet, so there is nothing to audit.',
      hint: 'Start an ingester with the network in its networks file.',
    });
  }
  return [await findNetwork(database, parseNetworkName(name))];
}

function parseShare(text: string): number {
  const share = Number(text);
  if (/^\d*\.?\d+$/.test(text) && share > 0 && share <= 1) return share;
  throw usageError(
    `--sample takes a share of the bundles above 0 and up to 1, got "${text}".`,
    'For example --sample 0.01 for one in a hundred.',
  );
}
