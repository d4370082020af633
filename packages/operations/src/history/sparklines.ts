import { z } from 'zod';
import { read } from '../operation/operation.js';
import { HOUR_MS, MINUTE_MS } from './steps.js';

/** The figure that stands for a whole row of a list: the first of its subject. */
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
    const first = startMs / MINUTE_MS;
    const last = first + HOUR_MS / MINUTE_MS - 1;
    const stepMinutes = STEP_MS / MINUTE_MS;
    const rows = await database.history.recent({ subject: of, first, last, stepMinutes });
    return {
      from: new Date(startMs),
      stepSeconds: STEP_MS / 1_000,
      figure: FIGURES[of],
      rows: rows.map(({ name, points }) => {
        const [network, upstream] = of === 'node' && name !== '' ? (JSON.parse(name) as string[]) : [name];
        return { network, upstream, points };
      }),
    };
  },
});
