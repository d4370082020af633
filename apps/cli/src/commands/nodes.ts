import { cordonNode, listNodes, type NodeState, uncordonNode } from '@packhouse/operations';
import type { Command } from 'commander';
import { operate } from '../installation/operate.js';
import { addCommand, addPlacedCommand, type Place } from '../terminal/command.js';
import { type CliIo, print, printRows, table } from '../terminal/io.js';

/** `packhouse nodes list|cordon|uncordon`. */
export function addNodesCommand(program: Command, io: CliIo): void {
  const nodes = addCommand(program, 'nodes', 'List, cordon and uncordon nodes', 'list');

  addPlacedCommand(nodes, 'list', 'List nodes with state, head, latency and errors', '--network ethereum')
    .option('--network <name>', 'Only this network')
    .action(async (options: Place & { network?: string }) => {
      const rows = await operate(io, options, listNodes, { network: options.network });
      await printRows(io, options, rows, {
        none: 'No ingester or gateway reported a node in the last 15 s.',
        show: () => [nodeTable(rows), ...cordonLines(rows), ...leftOutLines(rows)].join('\n'),
      });
    });

  addPlacedCommand(
    nodes,
    'cordon',
    'Cordon a node: within a second it gets no new requests',
    'ethereum main --reason "disk replacement"',
  )
    .argument('<network>', 'Network of the node')
    .argument('<node>', 'Name of the node in the networks file')
    .requiredOption('--reason <text>', 'Reason, shown in `nodes list` and in the history')
    .action(async (network: string, upstream: string, options: Place & { reason: string }) => {
      const row = await operate(io, options, cordonNode, { network, upstream, reason: options.reason });
      await print(
        io,
        options.json ? row : `Node ${upstream} of ${network} cordoned. It finishes its open requests.`,
      );
    });

  addPlacedCommand(nodes, 'uncordon', 'Uncordon a node: it gets requests again', 'ethereum main')
    .argument('<network>', 'Network of the node')
    .argument('<node>', 'Name of the node in the networks file')
    .action(async (network: string, upstream: string, options: Place) => {
      const row = await operate(io, options, uncordonNode, { network, upstream });
      await print(io, options.json ? row : `Node ${upstream} of ${network} uncordoned.`);
    });
}

function nodeTable(rows: readonly NodeState[]): string {
  const lines = rows.map((row) => [
    row.network,
    row.upstream,
    toState(row),
    row.head === null ? '?' : String(row.head),
    row.lag === null ? '?' : String(row.lag),
    meanMs(row),
    `${row.inFlight} of ${row.maxInFlight}`,
    row.errors.map(({ meaning, calls }) => `${calls} ${meaning}`).join(', ') || 'none',
    String(row.invalidResponses),
    row.missingCapabilities.join(', ') || '-',
  ]);
  const heads = [
    'NETWORK',
    'NODE',
    'STATE',
    'HEAD',
    'BEHIND',
    'MS',
    'IN FLIGHT',
    'ERRORS',
    'INVALID',
    'MISSING',
  ];
  return table([heads, ...lines]);
}

/** A cordon takes effect a moment later, in each process. */
function toState({ cordon, processes }: NodeState): string {
  if (cordon !== null) return 'cordoned';
  if (processes.length === 0) return 'unused';
  return [...new Set(processes.map(({ state }) => state))].join(', ');
}

function meanMs({ methods }: NodeState): string {
  const timed = methods.filter(({ ms }) => ms !== null);
  const calls = timed.reduce((sum, each) => sum + each.calls, 0);
  if (calls === 0) return '?';
  return String(Math.round(timed.reduce((sum, each) => sum + (each.ms ?? 0) * each.calls, 0) / calls));
}

function leftOutLines(rows: readonly NodeState[]): string[] {
  return rows.flatMap(({ leftOut, network, upstream }) =>
    leftOut === null ? [] : [`${upstream} of ${network}: left out: ${leftOut}`],
  );
}

function cordonLines(rows: readonly NodeState[]): string[] {
  return rows.flatMap(({ network, upstream, cordon }) =>
    cordon === null
      ? []
      : [
          `${upstream} of ${network}: cordoned by ${cordon.actor} at ${cordon.at.toISOString().slice(0, 19)}: ${cordon.reason}`,
        ],
  );
}
