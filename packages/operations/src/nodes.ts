import type { NodeCordon, NodeReport, NodeReportRow } from '@packhouse/database';
import { PackhouseError } from '@packhouse/runtime';
import { z } from 'zod';
import { changedMeanwhile } from './changed-meanwhile.js';
import { limitField, networkField } from './fields.js';
import { noteChange } from './note-change.js';
import type { OperationParts } from './operation.js';
import { operation } from './operation.js';

/** One node, by all processes that ask it. */
export interface NodeStanding
  extends Pick<
    NodeReport,
    'client' | 'head' | 'inFlight' | 'maxInFlight' | 'lies' | 'methods' | 'errors' | 'can' | 'lacks'
  > {
  network: string;
  upstream: string;
  /** null: no process that lives asks it. */
  provider: string | null;
  /** How far its head is behind the highest one of its network; null: unknown. */
  lag: number | null;
  cordon: Pick<NodeCordon, 'who' | 'why' | 'at'> | null;
  keptBack: string | null;
  lastError: string | null;
  processes: (Pick<NodeReportRow, 'role' | 'host' | 'process' | 'seenAt'> & Pick<NodeReport, 'state'>)[];
}

const nodeInput = z.object({
  network: networkField,
  upstream: z.string().min(1).max(1_000).describe('its name in the networks file'),
});
/** Reports that are read at most: of each process one for each of its upstreams. */
const MOST_REPORTS = 10_000;

export const listNodes = operation({
  name: 'nodes',
  kind: 'read',
  role: 'viewer',
  sharedForMs: 1_000,
  summary: 'The nodes as those who ask them report: heads, latency, errors, lies, what each can, cordons.',
  input: z.object({ network: networkField.optional(), limit: limitField(1_000) }),
  run: async ({ database, networks }, { network, limit }): Promise<NodeStanding[]> => {
    const [reports, cordons] = await Promise.all([
      database.nodes.list({ network, limit: MOST_REPORTS }),
      database.nodes.cordons(),
    ]);
    const named = (networks?.() ?? []).flatMap(({ id, upstreams }) =>
      upstreams.map(({ name }) => ({ network: id, upstream: name })),
    );
    const byNode = new Map<string, NodeReportRow[]>();
    for (const { network: of, upstream } of [...named, ...cordons]) {
      if (network === undefined || of === network) byNode.set(JSON.stringify([of, upstream]), []);
    }
    for (const row of reports) {
      const key = JSON.stringify([row.network, row.upstream]);
      byNode.set(key, [...(byNode.get(key) ?? []), row]);
    }
    const heads = new Map<string, number>();
    for (const { network: of, report } of reports) {
      if (report.state === 'another-chain' || report.head === null) continue;
      heads.set(of, Math.max(heads.get(of) ?? 0, report.head));
    }
    return [...byNode]
      .map(([key, rows]) => {
        const [of, upstream] = JSON.parse(key) as [string, string];
        const cordon = cordons.find((each) => each.network === of && each.upstream === upstream);
        return standingOf({ network: of, upstream, rows, cordon, best: heads.get(of) ?? null });
      })
      .sort((a, b) => compare(a.network, b.network) || compare(a.upstream, b.upstream))
      .slice(0, limit);
  },
});

export const cordonNode = operation({
  name: 'nodes/cordon',
  kind: 'change',
  role: 'operator',
  summary: 'Takes a node out: within a second no ingester and no gateway asks it any more.',
  input: nodeInput.extend({ why: z.string().trim().min(1).max(500).describe('for those who look later') }),
  run: async (parts, { network, upstream, why }) => {
    const { database, who } = parts;
    const known = (await listNodes.run(parts, { network, limit: 10_000 })).map((each) => each.upstream);
    if (!known.includes(upstream)) {
      throw new PackhouseError({
        code: 'NODE_UNKNOWN',
        message: `No process that lives asks a node "${upstream}" of network "${network}".`,
        hint:
          known.length === 0
            ? 'None of that network is known.'
            : `Known are: ${known.slice(0, 20).join(', ')}.`,
      });
    }
    const made = await database.nodes.cordon({ network, upstream, who, why });
    if (made === null) {
      const now = await findCordon(parts, network, upstream);
      throw changedMeanwhile(`Node ${upstream} of ${network} is cordoned already: it`, now);
    }
    await noteChange(parts, `node ${network} ${upstream}`, 'cordon', null, { why });
    return made;
  },
});

export const uncordonNode = operation({
  name: 'nodes/uncordon',
  kind: 'change',
  role: 'operator',
  summary: 'Lets a cordoned node be asked again, after it has told its chain.',
  input: nodeInput,
  run: async (parts, { network, upstream }) => {
    const ended = await parts.database.nodes.uncordon(network, upstream);
    if (ended === null) {
      throw new PackhouseError({
        code: 'NODE_UNKNOWN',
        message: `Node "${upstream}" of network "${network}" is not cordoned.`,
        hint: '`packhouse nodes list` shows which are.',
      });
    }
    await noteChange(
      parts,
      `node ${network} ${upstream}`,
      'uncordon',
      { who: ended.who, why: ended.why },
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

function standingOf(given: {
  network: string;
  upstream: string;
  rows: readonly NodeReportRow[];
  cordon: NodeCordon | undefined;
  best: number | null;
}): NodeStanding {
  const { best, cordon, network, rows, upstream } = given;
  const reports = rows.map(({ report }) => report);
  const heads = reports.flatMap(({ head }) => head ?? []);
  const head = heads.length === 0 ? null : Math.max(...heads);
  const sum = (of: (report: NodeReport) => number): number =>
    reports.reduce((total, report) => total + of(report), 0);
  const first = <T>(of: (report: NodeReport) => T | null): T | null =>
    reports.map(of).find((value) => value !== null) ?? null;
  const all = (of: (report: NodeReport) => string[]): string[] => [...new Set(reports.flatMap(of))].sort();
  const can = all((report) => report.can);
  return {
    ...{ network, upstream, provider: rows[0]?.provider ?? null },
    ...{ head, lag: head === null || best === null ? null : Math.max(0, best - head) },
    cordon: cordon === undefined ? null : { who: cordon.who, why: cordon.why, at: cordon.at },
    client: first(({ client }) => client),
    inFlight: sum((report) => report.inFlight),
    maxInFlight: sum((report) => report.maxInFlight),
    lies: sum((report) => report.lies),
    ...{ methods: methodsOf(reports), errors: errorsOf(reports) },
    ...{ keptBack: first((report) => report.keptBack), lastError: first((report) => report.lastError) },
    // One process may not have asked yet what another knows.
    ...{ can, lacks: all((report) => report.lacks).filter((what) => !can.includes(what)) },
    processes: rows.map(({ process, role, host, seenAt, report: { state } }) => ({
      ...{ process, role, host, seenAt, state },
    })),
  };
}

function methodsOf(reports: readonly NodeReport[]): NodeReport['methods'] {
  const sums = new Map<string, { calls: number; timed: number; ms: number }>();
  for (const { method, calls, ms } of reports.flatMap((report) => report.methods)) {
    const sum = sums.get(method) ?? { calls: 0, timed: 0, ms: 0 };
    const timed = ms === null ? 0 : calls;
    sums.set(method, {
      calls: sum.calls + calls,
      timed: sum.timed + timed,
      ms: sum.ms + (ms ?? 0) * timed,
    });
  }
  return [...sums]
    .map(([method, { calls, timed, ms }]) => ({
      ...{ method, calls },
      ms: timed === 0 ? null : Math.round((10 * ms) / timed) / 10,
    }))
    .sort((a, b) => b.calls - a.calls);
}

function errorsOf(reports: readonly NodeReport[]): NodeReport['errors'] {
  const sums = new Map<string, number>();
  for (const { meaning, calls } of reports.flatMap(({ errors }) => errors)) {
    sums.set(meaning, (sums.get(meaning) ?? 0) + calls);
  }
  return [...sums].map(([meaning, calls]) => ({ meaning, calls })).sort((a, b) => b.calls - a.calls);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
