import type { Database } from '@packhouse/database';
import { coverageMap } from '@packhouse/report';
import { median } from '@packhouse/rig';
import { watchOthers } from './processes.js';
import type { BenchOutcome } from './result.js';

const COLUMNS = 1_000;
const SAMPLES = 15;
const LIMIT_MS = 200;
const LIMIT_BYTES = 50_000;
const VIEWS = [10_000_000, 1_000_000, 100_000, 10_000, 1_000];

/** Maps of an index full of holes, of everything and of views anywhere in it, each written as JSON. */
export async function benchMap(
  database: Database,
  network: string,
  lastBlock: number,
): Promise<BenchOutcome[]> {
  const others = watchOthers();
  const found: [view: string, ms: number, bytes: number][] = [];
  for (const blocks of [lastBlock + 1, ...VIEWS.filter((each) => each <= lastBlock)]) {
    const times: number[] = [];
    let bytes = 0;
    for (let sample = 0; sample < SAMPLES; sample++) {
      const from = Math.floor(Math.random() * (lastBlock + 2 - blocks));
      const startedAt = performance.now();
      const view = { network, from, to: from + blocks - 1, columns: COLUMNS };
      const text = JSON.stringify(await coverageMap({ database }, view));
      times.push(performance.now() - startedAt);
      bytes = Math.max(bytes, text.length);
    }
    found.push([`${blocks.toLocaleString('en-US')} blocks`, median(times), bytes]);
  }
  const { cores: otherCores } = others.end();
  return found.map(([view, ms, bytes]) => ({
    name: `map of coverage, ${view}`,
    value: ms,
    unit: 'ms',
    target: `under ${LIMIT_MS} ms and ${LIMIT_BYTES / 1_000} KB`,
    met: ms < LIMIT_MS && bytes < LIMIT_BYTES,
    note: `the most of ${SAMPLES} was ${(bytes / 1_000).toFixed(1)} KB`,
    data: { bytes, otherCores },
  }));
}
