import { cordonNode, listNodes, type NodeStanding, uncordonNode } from '@packhouse/operations';
import type { Command } from 'commander';
import { operate } from '../installation/operate.js';
import { type CliIo, print, table } from '../terminal/io.js';
import { withPlace } from '../terminal/place.js';

interface Options {
  network?: string;
  why: string;
  server?: string;
  json?: boolean;
  dataDir?: string;
}

/** `packhouse nodes list|cordon|uncordon`. */
export function addNodesCommand(program: Command, io: CliIo): void {
  const nodes = program
    .command('nodes')
    .description('look at the nodes that ingesters and gateways ask, and take one out')
    .addHelpText('after', '\nExample:\n  $ packhouse nodes list');

  withPlace(nodes.command('list'))
    .description('list the nodes with head, latency, errors and state')
    .option('--network <name>', 'of this network alone')
    .addHelpText('after', '\nExample:\n  $ packhouse nodes list --network ethereum')
    .action(async (options: Options) => {
      const rows = await operate(io, options, listNodes, { network: options.network });
      if (options.json) for (const row of rows) await print(io, row);
      else if (rows.length === 0)
        await print(io, 'No ingester and no gateway reported a node in the last 15 s.');
      else await print(io, [nodeTable(rows), ...cordonLines(rows)].join('\n'));
    });

  withPlace(nodes.command('cordon'))
    .description('take a node out: within a second nothing is asked of it')
    .argument('<network>', 'its network')
    .argument('<node>', 'its name in the networks file')
    .requiredOption('--why <text>', 'the reason, for those who look later')
    .addHelpText('after', '\nExample:\n  $ packhouse nodes cordon ethereum main --why "disk is replaced"')
    .action(async (network: string, upstream: string, options: Options) => {
      const row = await operate(io, options, cordonNode, { network, upstream, why: options.why });
      const said = `Node ${upstream} of ${network} is cordoned: requests under way end, and none follows.`;
      await print(io, options.json ? row : said);
    });

  withPlace(nodes.command('uncordon'))
    .description('let a cordoned node be asked again')
    .argument('<network>', 'its network')
    .argument('<node>', 'its name in the networks file')
    .addHelpText('after', '\nExample:\n  $ packhouse nodes uncordon ethereum main')
    .action(async (network: string, upstream: string, options: Options) => {
      const row = await operate(io, options, uncordonNode, { network, upstream });
      await print(io, options.json ? row : `Node ${upstream} of ${network} is asked again.`);
    });
}

function nodeTable(rows: readonly NodeStanding[]): string {
  const lines = rows.map((row) => [
    row.network,
    row.upstream,
    stateOf(row),
    row.head === null ? '?' : String(row.head),
    row.lag === null ? '?' : String(row.lag),
    meanMs(row),
    `${row.inFlight} of ${row.maxInFlight}`,
    row.errors.map(({ meaning, calls }) => `${calls} ${meaning}`).join(', ') || 'none',
    String(row.lies),
    row.lacks.join(', ') || '-',
  ]);
  const heads = ['NETWORK', 'NODE', 'STATE', 'HEAD', 'BEHIND', 'MS', 'IN FLIGHT', 'ERRORS', 'LIES', 'LACKS'];
  return table([heads, ...lines]);
}

/** A cordon has its effect a moment later, in each process. */
function stateOf({ cordon, processes }: NodeStanding): string {
  if (cordon !== null) return 'cordoned';
  if (processes.length === 0) return 'not asked';
  return [...new Set(processes.map(({ state }) => state))].join(', ');
}

function meanMs({ methods }: NodeStanding): string {
  const timed = methods.filter(({ ms }) => ms !== null);
  const calls = timed.reduce((sum, each) => sum + each.calls, 0);
  if (calls === 0) return '?';
  return String(Math.round(timed.reduce((sum, each) => sum + (each.ms ?? 0) * each.calls, 0) / calls));
}

function cordonLines(rows: readonly NodeStanding[]): string[] {
  return rows.flatMap(({ network, upstream, cordon }) =>
    cordon === null
      ? []
      : [
          `${upstream} of ${network} was cordoned by ${cordon.who} at ${cordon.at.toISOString().slice(0, 19)}: ${cordon.why}`,
        ],
  );
}
