import { KINDS, type ProofPolicy } from '@packhouse/chain';
import type { Database } from '@packhouse/database';
import { findNetwork } from '@packhouse/operations';
import { type AuditRequest, deleteOrphans, type Orphan, runAudit } from '@packhouse/pipeline';
import { type Context, PackhouseError } from '@packhouse/runtime';
import type { Command } from 'commander';
import { commandContext, withDatabase } from '../installation/connect.js';
import { type CliIo, drained, OutputEnded } from '../terminal/io.js';
import { checkRange, parseBlockNumber, parseKinds, parseNetworkName } from '../terminal/parse.js';
import { findNetworks, findSigners, openStore, repairFrom } from './audit-places.js';
import { type AuditPrinter, createAuditPrinter } from './audit-printer.js';

interface AuditFlags {
  network?: string;
  kind: string;
  from?: string;
  to?: string;
  sample?: string;
  seed?: string;
  repair?: boolean;
  deleteOrphans?: boolean;
  json?: boolean;
  dataDir?: string;
}

/** Exit code if damage is left. */
const DAMAGE_EXIT = 2;
/** Exit code after Ctrl-C, as in shells. */
const STOPPED_EXIT = 130;

/** `packhouse audit`. */
export function addAuditCommand(program: Command, io: CliIo): void {
  program
    .command('audit')
    .description(
      'read published objects back and check them: bytes, form, hashes, proofs, index; exits 2 if damage is left',
    )
    .option('--network <id>', 'only this network')
    .option('--kind <list>', `all, or some of ${KINDS.join(',')}`, 'all')
    .option('--from <block>', 'the first block')
    .option('--to <block>', 'the last block')
    .option('--sample <share>', 'a pseudo-random share of the bundles, above 0 and up to 1 (all)')
    .option('--seed <text>', "which bundles a sample holds; the same text, the same bundles (today's date)")
    .option('--repair', 'build damaged bundles again from the nodes and publish them as the next version')
    .option('--delete-orphans', 'delete objects that no index row names and that are older than an hour')
    .option('--data-dir <dir>', 'the data folder of a running `packhouse local`')
    .option('--json', 'print one JSON object a line: finding, progress, repair, deleted, done')
    .addHelpText(
      'after',
      `
Reads DATABASE_URL, OBJECT_STORE and, for --repair, NETWORKS_FILE and SIGNING_KEY_FILE; or those of a running
\`packhouse local\`. Without the signing key a packer signs what was repaired.
Objects that no index row names are reported but are not damage: a killed packer leaves them.

Example:
  $ packhouse audit --network ethereum --from 17000000 --to 17999999 --sample 0.01
  $ packhouse audit --repair`,
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
    const policyOf = (id: string): ProofPolicy | undefined => known.find((each) => each.id === id)?.proofs;
    const objectStore = await openStore(io, context, flags.dataDir);
    try {
      const orphans: Orphan[] = [];
      const parts = { context, database, objectStore };
      const repairing = flags.repair === true;
      const signers = repairing
        ? await findSigners(io, context, { database, dataDir: flags.dataDir })
        : undefined;
      const outcome = await runAudit(
        { ...parts, policyOf },
        { ...request, networks },
        {
          onFinding(finding) {
            printer.finding(finding);
            const { cause, network, kind, start, key } = finding;
            if (cause === 'orphan' && kind !== null && start !== null && key !== null) {
              orphans.push({ network, kind, start, key });
            }
          },
          onChecked: (_, __, counts) => printer.checked(counts),
          // A slow reader of the output slows the audit down.
          pace: () => drained(io),
          onRepair: (repair) => printer.repair(repair),
          ...(repairing ? { openRepair: repairFrom(context, known, signers) } : {}),
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
  const start = flags.from === undefined ? 0 : parseBlockNumber(flags.from, '--from');
  const end = flags.to === undefined ? Number.MAX_SAFE_INTEGER : parseBlockNumber(flags.to, '--to');
  checkRange(start, end);
  const sample = flags.sample === undefined ? 1 : parseShare(flags.sample);
  if (sample < 1 && flags.deleteOrphans === true) {
    throw new PackhouseError({
      code: 'USAGE',
      message: '--delete-orphans needs the object list, which an audit of a sample does not compare.',
      hint: 'Leave --sample out.',
    });
  }
  return {
    kinds: parseKinds(flags.kind),
    range: { start, end },
    sample,
    seed: flags.seed ?? today.toISOString().slice(0, 10),
    objects: sample === 1,
  };
}

/** The named network, else all that the database knows. Throws NETWORK_UNKNOWN, AUDIT_EMPTY. */
async function auditedNetworks(database: Database, name: string | undefined): Promise<string[]> {
  const known = (await database.networks.list()).map(({ id }) => id);
  if (name === undefined && known.length > 0) return known;
  if (name === undefined) {
    throw new PackhouseError({
      code: 'AUDIT_EMPTY',
      message: 'The database knows no network yet, so there is nothing to audit.',
      hint: 'A network becomes known when an ingester that has it in its networks file starts.',
    });
  }
  return [await findNetwork(database, parseNetworkName(name))];
}

function parseShare(text: string): number {
  const share = Number(text);
  if (/^\d*\.?\d+$/.test(text) && share > 0 && share <= 1) return share;
  throw new PackhouseError({
    code: 'USAGE',
    message: `--sample takes a share of the bundles above 0 and up to 1, got "${text}".`,
    hint: 'For example --sample 0.01 for one in a hundred.',
  });
}
