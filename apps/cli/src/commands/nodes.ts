import { cordonNode, listNodes, type NodeState, uncordonNode } from '@packhouse/operations';
import { list, one, resource } from '../installation/resource.js';
import { columnTable } from '../terminal/table.js';

const NODE = {
  network: ['<network>', 'Network of the node'],
  upstream: ['<node>', 'Name of the node in the networks file'],
} as const;

export const addNodesCommand = resource('nodes', 'List, cordon and uncordon nodes', 'list', {
  list: list(listNodes, {
    about: 'List nodes with state, head, latency and errors',
    examples: ['--network ethereum'],
    fields: { network: ['--network <name>', 'Only this network'] },
    empty: 'No ingester or gateway reported a node in the last 15 s.',
    show: (rows) => [nodeTable(rows), ...cordonLines(rows), ...leftOutLines(rows)],
  }),
  cordon: one(cordonNode, {
    about: 'Cordon a node: within a second it gets no new requests',
    examples: ['ethereum main --reason "disk replacement"'],
    fields: { ...NODE, reason: ['--reason <text>', 'Reason, shown in `nodes list` and in the history'] },
    say: (_, { network, upstream }) =>
      `Node ${upstream} of ${network} cordoned. It finishes its open requests.`,
  }),
  uncordon: one(uncordonNode, {
    about: 'Uncordon a node: it gets requests again',
    examples: ['ethereum main'],
    fields: NODE,
    say: (_, { network, upstream }) => `Node ${upstream} of ${network} uncordoned.`,
  }),
});

function nodeTable(rows: readonly NodeState[]): string {
  return columnTable(rows, {
    NETWORK: (row) => row.network,
    NODE: (row) => row.upstream,
    STATE: toState,
    HEAD: (row) => row.head ?? '?',
    BEHIND: (row) => row.lag ?? '?',
    MS: meanMs,
    'IN FLIGHT': (row) => `${row.inFlight} of ${row.maxInFlight}`,
    ERRORS: (row) => row.errors.map(({ meaning, calls }) => `${calls} ${meaning}`).join(', ') || 'none',
    INVALID: (row) => row.invalidResponses,
    MISSING: (row) => row.missingCapabilities.join(', ') || null,
  });
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
