import { ApiError, endSession } from './api.js';

/** The reads whose changes the console sends; their rows are lists. */
const TOPICS: ReadonlySet<string> = new Set(['overview', 'alarms', 'workers', 'nodes']);

/** A change of a topic. */
export interface News {
  /** All rows; undefined: as before. */
  rows: unknown[] | undefined;
  /** How old they are at most, in milliseconds. */
  ageMs: number;
  error: ApiError | null;
}

/** null: no more changes are sent; the listener must poll. */
type Listener = (news: News | null) => void;

interface RowsEvent {
  keys?: string[];
  rows: Record<string, unknown>;
}

/** A heartbeat comes every 5 s: after a longer silence a proxy buffers the events, or the connection is dead. */
const SILENCE_MS = 12_000;
/** How long until a cut stream is tried again, in milliseconds. */
const RETRY_MS = 10_000;

const listeners = new Map<string, Set<Listener>>();
let source: EventSource | null = null;
let open = '';
let delivering = false;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Listens to changes of a topic, if the console sends them; returns a function that ends it. */
export function listen(topic: string, listener: Listener): () => void {
  if (!TOPICS.has(topic) || typeof EventSource === 'undefined') return () => undefined;
  const others = listeners.get(topic) ?? new Set();
  listeners.set(topic, others.add(listener));
  document.addEventListener('visibilitychange', connect);
  queueMicrotask(connect);
  return () => {
    others.delete(listener);
    if (others.size === 0) listeners.delete(topic);
    queueMicrotask(connect);
  };
}

function notify(news: News | null, topics: Iterable<string> = listeners.keys()): void {
  for (const topic of topics) for (const listener of listeners.get(topic) ?? []) listener(news);
}

/** Opens a stream of the topics with listeners; a hidden page has none, for browsers open six to a server at most. */
function connect(): void {
  const topics = document.hidden ? '' : [...listeners.keys()].sort().join(',');
  if (topics === open && (source !== null || topics === '')) return;
  cut(topics);
  if (topics === '') return;
  const mine = new EventSource(`/api/events?topics=${topics}`);
  source = mine;
  const awake = (): void => {
    delivering = true;
    clearTimeout(timer);
    timer = setTimeout(reconnect, SILENCE_MS);
  };
  timer = setTimeout(reconnect, SILENCE_MS);
  mine.onerror = reconnect;
  mine.addEventListener('ended', () => {
    cut('');
    endSession();
  });
  mine.addEventListener('heartbeat', ({ data }) => {
    awake();
    const { ageMs, problem } = JSON.parse(data) as {
      ageMs: number;
      problem: { code: string; message: string; hint?: string } | null;
    };
    const error =
      problem === null ? null : new ApiError(503, problem.code, problem.message, problem.hint, {});
    notify({ rows: undefined, ageMs, error });
  });
  for (const topic of topics.split(',')) {
    let keys: string[] = [];
    let rows: Record<string, unknown> = {};
    mine.addEventListener(topic, ({ data }) => {
      awake();
      const event = JSON.parse(data) as RowsEvent;
      keys = event.keys ?? keys;
      rows = Object.fromEntries(keys.map((key) => [key, event.rows[key] ?? rows[key]]));
      notify({ rows: keys.map((key) => rows[key]), ageMs: 0, error: null }, [topic]);
    });
  }
}

/** The stream is cut: pages ask for themselves, and it is tried again later. */
function reconnect(): void {
  cut('');
  timer = setTimeout(connect, RETRY_MS);
}

function cut(next: string): void {
  clearTimeout(timer);
  source?.close();
  source = null;
  open = next;
  if (delivering) notify(null);
  delivering = false;
}
