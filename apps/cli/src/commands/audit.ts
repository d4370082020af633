import { KINDS, type ProofPolicy } from '@packhouse/chain';
import { deleteOrphans, type Orphan, runAudit } from '@packhouse/pipeline';
import type { Context } from '@packhouse/runtime';
import type { Command } from 'commander';
import { type AuditFlags, auditedNetworks, auditRequest } from '../audit/audit-options.js';
import { type AuditPrinter, createAuditPrinter } from '../audit/audit-printer.js';
import { findNetworks, openStore, repairFrom } from '../audit/open-places.js';
import { commandContext, withDatabase } from '../connect.js';
import type { CliIo } from '../io.js';

/** What an audit with damage left exits with. */
const DAMAGE_EXIT = 2;
/** And one that Ctrl-C ended, as shells have it. */
const STOPPED_EXIT = 130;

/** `packhouse audit`. */
export function addAuditCommand(program: Command, io: CliIo): void {
  program
    .command('audit')
    .description(
      'read published objects back and check them: bytes, form, hashes, proofs, index; exits 2 where damage is left',
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
Reads DATABASE_URL, OBJECT_STORE and, for --repair, NETWORKS_FILE; or those of a running \`packhouse local\`.
Objects that no index row names are told, and are no damage: a packer that was killed leaves such.

Example:
  $ packhouse audit --network ethereum --from 17000000 --to 17999999 --sample 0.01
  $ packhouse audit --repair`,
    )
    .action((flags: AuditFlags) => runCommand(io, flags));
}

async function runCommand(io: CliIo, flags: AuditFlags): Promise<void> {
  const context = commandContext(io);
  const request = auditRequest(flags, new Date(context.clock.now()));
  const printer = createAuditPrinter(io, flags.json === true, () => context.clock.now());
  try {
    await auditWith(io, context, flags, request, printer);
  } catch (error) {
    if (!io.signal.aborted) throw error;
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
          onRepair: (repair) => printer.repair(repair),
          ...(flags.repair === true ? { openRepair: repairFrom(context, known) } : {}),
        },
        io.signal,
      );
      if (flags.deleteOrphans === true) printer.deleted(await deleteOrphans(parts, orphans, io.signal));
      printer.done(outcome);
      io.exitCode = outcome.standing > 0 ? DAMAGE_EXIT : 0;
    } finally {
      await objectStore.close();
    }
  });
}
