import { median } from '@packhouse/rig';
import { type BenchOutcome, figure } from '../result.js';
import { FILLED } from './fill-installation.js';
import type { Page } from './page.js';
import { MENU, type SCREENS } from './screens.js';

/** Times that each screen is opened; the first ones, for which code is compiled and plans are made, do not count. */
const TIMES = 30;
const WARM_TIMES = 6;
const MAX_MS = 200;

/** Opens a screen many times, each time with nothing remembered by the console. */
export async function measure(
  page: Page,
  name: string,
  steps: (typeof SCREENS)[string],
): Promise<BenchOutcome> {
  const totals: number[] = [];
  const answers = new Map<string, number[]>();
  let bytes = 0;
  for (let time = 0; time < WARM_TIMES + TIMES; time += 1) {
    await page.forget();
    const startedAt = performance.now();
    let ids = '';
    bytes = 0;
    const read = async (path: string): Promise<string> => {
      const text = await page.read(path.replace('IDS', ids));
      const own = answers.get(path) ?? [];
      answers.set(path, own);
      if (time >= WARM_TIMES) own.push(performance.now() - startedAt);
      bytes += text.length;
      return text;
    };
    const menu = Promise.all(MENU.map(read));
    for (const step of steps) {
      const [first = '{}'] = await Promise.all(step.map(read));
      ids = (JSON.parse(first) as { rows?: { id: number }[] }).rows?.map(({ id }) => id).join() ?? '';
    }
    await menu;
    if (time >= WARM_TIMES) totals.push(performance.now() - startedAt);
  }
  const sorted = totals.sort((a, b) => a - b);
  const p99 = sorted[Math.ceil(sorted.length * 0.99) - 1] as number;
  const slowest = [...answers].map(([path, own]) => [path, median(own)] as const).sort((a, b) => b[1] - a[1]);
  return {
    name: `console: ${name}`,
    value: median(sorted),
    unit: 'ms',
    target: `under ${MAX_MS} ms`,
    met: median(sorted) < MAX_MS,
    note: `p99 ${figure(p99)} ms, ${(bytes / 1_024).toFixed(0)} KiB; ${slowest
      .map(([path, ms]) => `${path} ${figure(ms)}`)
      .join(', ')}`,
    data: { filled: FILLED, p99, sorted, answers: Object.fromEntries(answers), bytes },
  };
}
