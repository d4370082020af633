/**
 * A program: `node watch-victim.js '<Probe[] as JSON>'` sends small requests at a steady pace, whether or not the last
 * ones are answered, until SIGTERM; then prints a ProbeReport for each probe, by name, as JSON.
 */
import { Agent, request } from 'node:http';

/** Requests at a steady pace. */
export interface Probe {
  name: string;
  url: string;
  headers?: Readonly<Record<string, string>>;
  /** Sent with POST, as JSON; each `{n}` is replaced by a number that was not used before. Absent: GET. */
  body?: string;
  everyMs: number;
}

/** What became of them. Times are from when a request was due, also of those that got no answer by the end. */
export interface ProbeReport {
  sent: number;
  /** Answered with 200 and, if it is JSON-RPC, a result. */
  ok: number;
  p50Ms: number;
  p99Ms: number;
  longestMs: number;
  /** Statuses other than 200, and `error` for broken connections, with how often each came. */
  otherwise: Record<string, number>;
}

/** More than so many at a time are not sent: a server that does not answer at all is known by then. */
const AT_A_TIME = 2_000;
/** A request that is not answered by then is given up. */
const GIVE_UP_MS = 60_000;
/** How long the last requests may take once no more are sent. */
const LAST_MS = 1_000;

const probes = JSON.parse(process.argv[2] ?? '[]') as Probe[];
let number = 0;

function watch(probe: Probe): () => Promise<ProbeReport> {
  const agent = new Agent({ keepAlive: true });
  const times: number[] = [];
  const underway = new Set<number>();
  const report: ProbeReport = { sent: 0, ok: 0, p50Ms: 0, p99Ms: 0, longestMs: 0, otherwise: {} };
  const other = (what: string | number): void => {
    report.otherwise[what] = (report.otherwise[what] ?? 0) + 1;
  };
  const send = (): void => {
    if (underway.size >= AT_A_TIME) return;
    let due = performance.now();
    while (underway.has(due)) due += 0.001;
    underway.add(due);
    report.sent += 1;
    number += 1;
    const body = probe.body?.replaceAll('{n}', number.toString(16));
    const ended = (): void => {
      if (underway.delete(due)) times.push(performance.now() - due);
    };
    const asked = request(probe.url, {
      agent,
      method: body === undefined ? 'GET' : 'POST',
      timeout: GIVE_UP_MS,
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...probe.headers },
    });
    asked.on('response', (response) => {
      let text = '';
      response.setEncoding('latin1').on('data', (chunk: string) => {
        if (text.length < 200) text += chunk.slice(0, 200);
      });
      response.on('end', () => {
        if (response.statusCode !== 200) other(response.statusCode ?? 0);
        else if (body !== undefined && text.includes('"error"')) other('refused');
        else report.ok += 1;
        ended();
      });
      response.on('error', () => other('error'));
    });
    asked.on('timeout', () => asked.destroy());
    asked.on('error', () => {
      other('error');
      ended();
    });
    asked.end(body);
  };
  const timer = setInterval(send, probe.everyMs);
  return async () => {
    clearInterval(timer);
    const end = performance.now() + LAST_MS;
    while (underway.size > 0 && performance.now() < end) await new Promise((next) => setTimeout(next, 10));
    for (const due of underway) times.push(performance.now() - due);
    times.sort((a, b) => a - b);
    const at = (share: number): number =>
      times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
    return { ...report, p50Ms: at(0.5), p99Ms: at(0.99), longestMs: times.at(-1) ?? 0 };
  };
}

const ends = probes.map((probe) => [probe.name, watch(probe)] as const);
async function tell(): Promise<void> {
  const reports = await Promise.all(ends.map(async ([name, end]) => [name, await end()] as const));
  process.stdout.write(`${JSON.stringify(Object.fromEntries(reports))}\n`, () => process.exit(0));
}
process.once('SIGTERM', () => void tell());
process.once('disconnect', () => process.exit(0));
process.send?.({ type: 'watching' });
