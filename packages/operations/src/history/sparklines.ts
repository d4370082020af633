import { getOrAdd } from '@packhouse/runtime';
import { z } from 'zod';
import { read } from '../operation/operation.js';
import { HOUR_MS, MINUTE_MS, toPoints } from './steps.js';

/** The figure that stands for a whole row of a list. */
const FIGURES = { network: 'blocks', node: 'calls' } as const;

const STEP_MS = 2 * MINUTE_MS;

export const readSparklines = read({
  name: 'history/sparklines',
  role: 'viewer',
  sharedForMs: 20_000,
  summary:
    'Of the last hour, the published blocks per second of all networks, or the calls per second of all nodes.',
  input: z.object({ of: z.enum(['network', 'node'], 'takes network or node') }),
  run: async ({ database }, { of }) => {
    const nowMs = await database.history.counters.nowMs();
    const startMs = Math.floor((nowMs - HOUR_MS) / STEP_MS) * STEP_MS;
    const steps = { unit: 'minute', stepMs: STEP_MS, startMs, points: HOUR_MS / STEP_MS } as const;
    const first = startMs / MINUTE_MS;
    const last = first + HOUR_MS / MINUTE_MS - 1;
    const rows = await database.history.recent({ subject: of, figure: FIGURES[of], first, last });
    const byName = new Map<string, Map<number, (number | null)[]>>();
    for (const { name, minute, value } of rows) getOrAdd(byName, name, () => new Map()).set(minute, [value]);
    const common = { steps, sampled: new Set<number>(), width: 1, sparse: false };
    return {
      from: new Date(startMs),
      stepSeconds: STEP_MS / 1_000,
      figure: FIGURES[of],
      rows: [...byName].map(([name, samples]) => {
        const [network, upstream] = of === 'node' && name !== '' ? (JSON.parse(name) as string[]) : [name];
        return { network, upstream, points: toPoints({ ...common, samples })[0] ?? [] };
      }),
    };
  },
});
