import type { ClientAnswer, UpstreamClient } from '@packhouse/node-rpc';
import type { Chart } from './chart.js';
import type { Question } from './check-methods.js';

/** An upstream whose fastest response takes longer than this is slow, in milliseconds. */
const SLOW_MS = 1_000;
const TIMES = 3;

/** Measures the latency of a cheap call; false if there is no response at all. */
export async function reach(chart: Chart, ask: UpstreamClient, [method, params]: Question): Promise<boolean> {
  const times: number[] = [];
  for (let time = 0; time < TIMES; time += 1) {
    const answer = await ask.call(method, params);
    if (answer.kind === 'result') times.push(answer.ms);
    else if (time === 0) {
      fail(chart, method, answer);
      return false;
    }
  }
  const ms = Math.round(Math.min(...times));
  chart.set('reach', 'ok', `${ms} ms`);
  if (times.length < TIMES) {
    chart.find(
      { column: 'reach', level: 'warn', text: `${times.length} of ${TIMES}` },
      `It answered ${times.length} of ${TIMES} requests.`,
      'Check its log and its limits. Failed requests go to other upstreams.',
    );
  } else if (ms > SLOW_MS) {
    chart.find(
      { column: 'reach', level: 'warn', text: `${ms} ms` },
      `Its fastest response took ${ms} ms.`,
      'Use a closer node, or give it a higher priority number so that others are preferred.',
    );
  }
  return true;
}

function fail(chart: Chart, method: string, answer: Exclude<ClientAnswer, { kind: 'result' }>): void {
  chart.usable = false;
  chart.find(
    { column: 'reach', level: 'fail', text: answer.kind === 'failed' ? 'no' : `error ${answer.code}` },
    `It ${answer.what} for ${method}.`,
    answer.kind === 'failed'
      ? 'Check that the node is running, and its url and headers in the networks file.'
      : "Check that it is a node of this network's family, and its key.",
  );
}
