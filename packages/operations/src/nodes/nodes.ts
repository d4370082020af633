import type { NodeCordon, NodeReport, NodeReportRow, QuarantineRow } from '@packhouse/database';
import { getSilence } from '@packhouse/report';
import { getOrAdd } from '@packhouse/runtime';
import { z } from 'zod';
import { getWrongUpstreams, listWrongAnswers } from '../findings/wrong-answers.js';
import { failChanged } from '../operation/changed-meanwhile.js';
import { fail } from '../operation/fail.js';
import { limitField, networkField } from '../operation/fields.js';
import { noteChange } from '../operation/note-change.js';
import { change, type OperationParts, read } from '../operation/operation.js';

/** A node, by the reports of all processes that call it. */
export interface NodeState extends Omit<NodeReport, 'state' | 'stateForMs' | 'totals' | 'failingForMs'> {
  network: string;
  upstream: string;
  /** null: no running process calls it. */
  provider: string | null;
  /** How far its head is behind the highest one of its network; null: unknown. */
  lag: number | null;
  cordon: Pick<NodeCordon, 'actor' | 'reason' | 'at'> | null;
  /** Since when no process has an answer of it; null: one has, or none calls it. */
  silentSince: Date | null;
  /** Blocks in quarantine of which it sent something wrong, the lowest first. */
  failedBlocks: number[];
  /** When the first of them failed first, and when the first is tried again; null: there is none. */
  failedSince: Date | null;
  retryAt: Date | null;
  /** With what it is to each, and since when (null: an earlier version). */
  processes: (Pick<NodeReportRow, 'role' | 'host' | 'process' | 'seenAt'> &
    Pick<NodeReport, 'state'> & { since: Date | null })[];
}

const nodeInput = z.object({
  network: networkField,
  upstream: z.string().min(1).max(1_000).describe('its name in the networks file'),
});
/** One report per process and upstream. */
const MAX_REPORTS = 10_000;

export const listNodes = read({
  name: 'nodes',
  role: 'viewer',
  sharedForMs: 1_000,
  summary: 'The nodes: heads, latency, errors, invalid responses, capabilities, cordons.',
  input: z.object({ network: networkField.optional(), limit: limitField(1_000) }),
  run: async ({ database, networks }, { network, limit }): Promise<NodeState[]> => {
    const [reports, cordons, wrong] = await Promise.all([
      database.nodes.list({ network, limit: MAX_REPORTS }),
      database.nodes.cordons(),
      listWrongAnswers(database, network),
    ]);
    const failed = new Map<string, QuarantineRow[]>();
    for (const row of wrong) {
      for (const name of getWrongUpstreams(row)) {
        getOrAdd(failed, JSON.stringify([row.network, name]), (): QuarantineRow[] => []).push(row);
      }
    }
    const named = (networks?.() ?? []).flatMap(({ id, upstreams }) =>
      upstreams.map(({ name }) => ({ network: id, upstream: name })),
    );
    const byNode = new Map<string, NodeReportRow[]>();
    for (const { network: of, upstream } of [...named, ...cordons]) {
      if (network === undefined || of === network) byNode.set(JSON.stringify([of, upstream]), []);
    }
    for (const row of reports) {
      getOrAdd(byNode, JSON.stringify([row.network, row.upstream]), (): NodeReportRow[] => []).push(row);
    }
    const heads = new Map<string, number>();
    for (const { network: of, report } of reports) {
      if (report.state === 'another-chain' || report.state === 'left-out' || report.head === null) continue;
      heads.set(of, Math.max(heads.get(of) ?? 0, report.head));
    }
    return [...byNode]
      .map(([key, rows]) => {
        const [of, upstream] = JSON.parse(key) as [string, string];
        const cordon = cordons.find((each) => each.network === of && each.upstream === upstream);
        const best = heads.get(of) ?? null;
        return toNodeState({ network: of, upstream, rows, cordon, best, failed: failed.get(key) ?? [] });
      })
      .sort((a, b) => compare(a.network, b.network) || compare(a.upstream, b.upstream))
      .slice(0, limit);
  },
});

export const cordonNode = change({
  name: 'nodes/cordon',
  role: 'operator',
  summary: 'Cordons a node: ingesters and gateways stop calling it within a second.',
  input: nodeInput.extend({ reason: z.string().trim().min(1).max(500).describe('shown with the cordon') }),
  run: async (parts, { network, upstream, reason }) => {
    const { database, actor } = parts;
    const known = (await listNodes.run(parts, { network, limit: 10_000 })).map((each) => each.upstream);
    if (!known.includes(upstream)) {
      fail(
        'NODE_UNKNOWN',
        `Unknown node "${upstream}" of network "${network}".`,
        known.length === 0
          ? 'No process reports a node of that network.'
          : `Known nodes: ${known.slice(0, 20).join(', ')}.`,
      );
    }
    const made = await database.nodes.cordon({ network, upstream, actor, reason });
    if (made === null) {
      const now = await findCordon(parts, network, upstream);
      failChanged(`Node ${upstream} of ${network} is cordoned already: it`, now);
    }
    await noteChange(parts, `node ${network} ${upstream}`, 'cordon', null, { reason });
    return made;
  },
});

export const uncordonNode = change({
  name: 'nodes/uncordon',
  role: 'operator',
  summary: 'Uncordons a node: it is called again as soon as its chain is checked.',
  input: nodeInput,
  run: async (parts, { network, upstream }) => {
    const ended = await parts.database.nodes.uncordon(network, upstream);
    if (ended === null) {
      fail(
        'NODE_UNKNOWN',
        `Node "${upstream}" of network "${network}" is not cordoned.`,
        'See `packhouse nodes list`.',
      );
    }
    await noteChange(
      parts,
      `node ${network} ${upstream}`,
      'uncordon',
      { actor: ended.actor, reason: ended.reason },
      null,
    );
    return ended;
  },
});

async function findCordon(
  { database }: OperationParts,
  network: string,
  upstream: string,
): Promise<NodeCordon | null> {
  const all = await database.nodes.cordons();
  return all.find((each) => each.network === network && each.upstream === upstream) ?? null;
}

function toNodeState(given: {
  network: string;
  upstream: string;
  rows: readonly NodeReportRow[];
  cordon: NodeCordon | undefined;
  best: number | null;
  /** The first blocks of its entries in quarantine. */
  failed: readonly QuarantineRow[];
}): NodeState {
  const { best, cordon, failed, network, rows, upstream } = given;
  const reports = rows.map(({ report }) => report);
  const heads = reports.flatMap(({ head }) => head ?? []);
  const head = heads.length === 0 ? null : Math.max(...heads);
  const sum = (of: (report: NodeReport) => number): number =>
    reports.reduce((total, report) => total + of(report), 0);
  const first = <T>(of: (report: NodeReport) => T | null): T | null =>
    reports.map(of).find((value) => value !== null) ?? null;
  const all = (of: (report: NodeReport) => string[]): string[] => [...new Set(reports.flatMap(of))].sort();
  const capabilities = all((report) => report.capabilities);
  const earliest = (dates: readonly Date[]): Date | null =>
    dates.length === 0 ? null : new Date(Math.min(...dates.map(Number)));
  return {
    network,
    upstream,
    provider: rows[0]?.provider ?? null,
    head,
    lag: head === null || best === null ? null : Math.max(0, best - head),
    cordon: cordon === undefined ? null : { actor: cordon.actor, reason: cordon.reason, at: cordon.at },
    silentSince: getSilence(rows)?.since ?? null,
    failedBlocks: failed.map(({ firstBlock }) => firstBlock).slice(0, MAX_FAILED),
    failedSince: earliest(failed.map(({ firstSeen }) => firstSeen)),
    retryAt: earliest(failed.map(({ nextTry }) => nextTry)),
    client: first(({ client }) => client),
    inFlight: sum((report) => report.inFlight),
    maxInFlight: sum((report) => report.maxInFlight),
    invalidResponses: sum((report) => report.invalidResponses),
    methods: getMethods(reports),
    errors: getErrors(reports),
    leftOut: first((report) => report.leftOut ?? null),
    throttledBy: first((report) => report.throttledBy),
    lastError: first((report) => report.lastError),
    // One process may not have probed yet what another one has.
    capabilities,
    missingCapabilities: all((report) => report.missingCapabilities).filter(
      (what) => !capabilities.includes(what),
    ),
    processes: rows.map(({ report: { state, stateForMs }, process, role, host, seenAt }) => {
      const since = stateForMs === undefined ? null : new Date(seenAt.getTime() - stateForMs);
      return { process, role, host, seenAt, state, since };
    }),
  };
}

/** Blocks that are listed of a node. */
const MAX_FAILED = 20;

function getMethods(reports: readonly NodeReport[]): NodeReport['methods'] {
  const sums = new Map<string, { calls: number; timed: number; ms: number }>();
  for (const { method, calls, ms } of reports.flatMap((report) => report.methods)) {
    const sum = sums.get(method) ?? { calls: 0, timed: 0, ms: 0 };
    const timed = ms === null ? 0 : calls;
    sums.set(method, { calls: sum.calls + calls, timed: sum.timed + timed, ms: sum.ms + (ms ?? 0) * timed });
  }
  return [...sums]
    .map(([method, { calls, timed, ms }]) => {
      return { method, calls, ms: timed === 0 ? null : Math.round((10 * ms) / timed) / 10 };
    })
    .sort((a, b) => b.calls - a.calls);
}

function getErrors(reports: readonly NodeReport[]): NodeReport['errors'] {
  const sums = new Map<string, number>();
  for (const { meaning, calls } of reports.flatMap(({ errors }) => errors)) {
    sums.set(meaning, (sums.get(meaning) ?? 0) + calls);
  }
  return [...sums].map(([meaning, calls]) => ({ meaning, calls })).sort((a, b) => b.calls - a.calls);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
