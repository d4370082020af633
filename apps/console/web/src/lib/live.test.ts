import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { listen, type News } from './live.js';

/** The streams that were opened. */
const opened: FakeSource[] = [];

class FakeSource {
  readonly on = new Map<string, (event: { data: string }) => void>();
  onerror = (): void => undefined;
  closed = false;
  constructor(readonly url: string) {
    opened.push(this);
  }
  addEventListener(name: string, call: (event: { data: string }) => void): void {
    this.on.set(name, call);
  }
  close(): void {
    this.closed = true;
  }
  tell(name: string, data: object): void {
    this.on.get(name)?.({ data: JSON.stringify(data) });
  }
}

let heard: (News | null)[] = [];
let deaf: () => void;
const page = Object.assign(new EventTarget(), { hidden: false });
const last = (): FakeSource => opened.at(-1) as FakeSource;

beforeEach(async () => {
  vi.useFakeTimers();
  vi.stubGlobal('EventSource', FakeSource);
  vi.stubGlobal('document', page);
  opened.length = 0;
  heard = [];
  deaf = listen('alarms', (news) => heard.push(news));
  await Promise.resolve();
});
afterEach(async () => {
  deaf();
  await Promise.resolve();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

test('rows are told whole, in their order, when one of them changes', () => {
  expect(last().url).toBe('/api/events?topics=alarms');
  last().tell('alarms', { keys: ['a', 'b'], rows: { a: { n: 1 }, b: { n: 2 } } });
  last().tell('alarms', { rows: { b: { n: 3 } } });
  last().tell('alarms', { keys: ['b'], rows: {} });
  expect(heard.map((news) => news?.rows)).toEqual([[{ n: 1 }, { n: 2 }], [{ n: 1 }, { n: 3 }], [{ n: 3 }]]);
});

test('a heartbeat says how old the figures are, and why', () => {
  const problem = { code: 'DATABASE_UNAVAILABLE', message: 'Postgres does not answer.' };
  last().tell('heartbeat', { ageMs: 7_000, problem });
  expect(heard).toMatchObject([{ ageMs: 7_000, error: { message: 'Postgres does not answer.' } }]);
  expect(heard[0]?.rows).toBeUndefined();
});

test('a stream that is cut or falls silent sends pages asking, and is opened again later', () => {
  last().tell('alarms', { keys: [], rows: {} });
  vi.advanceTimersByTime(12_000);
  expect(heard.at(-1)).toBeNull();
  expect(last().closed).toBe(true);
  vi.advanceTimersByTime(10_000);
  expect(opened).toHaveLength(2);
  last().tell('alarms', { keys: ['a'], rows: { a: {} } });
  last().onerror();
  expect(heard.map((news) => news?.rows?.length)).toEqual([0, undefined, 1, undefined]);
});

test('a stream is of the topics that are heard, and a hidden page has none', async () => {
  const other = listen('workers', () => undefined);
  const unknown = listen('keys', () => undefined);
  await Promise.resolve();
  expect(opened.map(({ url, closed }) => `${url} ${closed}`)).toEqual([
    '/api/events?topics=alarms true',
    '/api/events?topics=alarms,workers false',
  ]);
  page.hidden = true;
  page.dispatchEvent(new Event('visibilitychange'));
  expect(last().closed).toBe(true);
  page.hidden = false;
  page.dispatchEvent(new Event('visibilitychange'));
  expect(opened).toHaveLength(3);
  unknown();
  other();
});
