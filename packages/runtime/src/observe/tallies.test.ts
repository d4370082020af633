import { expect, it } from 'vitest';
import { createMetrics } from './metrics.js';

it('counts by series, over several renderings', async () => {
  const metrics = createMetrics();
  const series = metrics.tallyCounter('packhouse_calls_total', 'Calls.', ['method']);
  const [one, other] = [series({ method: 'a' }), series({ method: 'b' })];
  one.add(2);
  expect(await metrics.render()).toContain('packhouse_calls_total{method="a"} 2');
  one.add(3);
  other.add(1);
  const text = await metrics.render();
  expect(text).toContain('packhouse_calls_total{method="a"} 5');
  expect(text).toContain('packhouse_calls_total{method="b"} 1');
});

it('gives the same series to everybody who asks for a name and labels', async () => {
  const metrics = createMetrics();
  metrics.tallyCounter('packhouse_a_total', 'A', ['n'])({ n: 'x' }).add(1);
  metrics.tallyCounter('packhouse_a_total', 'A', ['n'])({ n: 'x' }).add(1);
  metrics.tallyHistogram('packhouse_t', 'T', ['n'], [1])({ n: 'x' }).observe(2);
  metrics.tallyHistogram('packhouse_t', 'T', ['n'], [1])({ n: 'y' }).observe(2);
  const text = await metrics.render();
  expect(text).toContain('packhouse_a_total{n="x"} 2');
  expect(text).toContain('packhouse_t_count{n="x"} 1');
  expect(text).toContain('packhouse_t_count{n="y"} 1');
});

it('tells of a histogram what the library would, over several renderings', async () => {
  const bounds = [0.1, 0.5, 1];
  const values = [0.05, 0.1, 0.2, 0.5, 0.7, 1, 3];
  const [ours, theirs] = [createMetrics(), createMetrics()];
  const times = ours.tallyHistogram('packhouse_s', 'S', ['n'], bounds)({ n: 'x' });
  const library = theirs.histogram('packhouse_s', 'S', ['n'], bounds);
  for (const value of values) {
    times.observe(value);
    library.observe({ n: 'x' }, value);
    await ours.render();
  }
  // The library writes the bound first; the order of labels has no meaning.
  const series = (text: string): string[] =>
    text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => line.replace(/\{(.*)\}/, (_, labels: string) => `{${labels.split(',').sort().join()}}`))
      .sort();
  expect(series(await ours.render())).toEqual(series(await theirs.render()));
});
