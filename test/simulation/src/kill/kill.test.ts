import { expect, it } from 'vitest';
import { renderReport } from './render-report.js';
import { runKillTest } from './run-kill-test.js';

// Invariants 5, 6 and 8 on the whole system. `npm run kill-test` is the long version of this.
it.runIf(process.platform === 'linux')(
  'packhouse local under load loses, doubles and leaves over nothing when each of its processes is killed',
  async () => {
    const said: string[] = [];
    const report = await runKillTest({
      kills: 4,
      seed: 3,
      blocks: 300,
      jobLockMs: 4_000,
      say: (line) => said.push(line),
    });
    expect(report.violations, `${said.join('\n')}\n${renderReport(report)}`).toEqual([]);
    expect(report.published.records).toBe(1_500);
    expect(report.client.links).toBeGreaterThan(0);
  },
  600_000,
);
