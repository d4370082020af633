import { ApiError, sessionEnded } from './api.js';

/** The reads whose changes the console tells; their rows are lists. */
const TOPICS: ReadonlySet<string> = new Set(['overview', 'alarms', 'workers', 'nodes']);

/** What is told of a topic. */
export interface News {
  /** All rows; undefined: as before. */
  rows: unknown[] | undefined;
  /** How old they are at most, in milliseconds. */
  ageMs: number;
  error: ApiError | null;
}

/** null: nothing is told any more; whoever hears must ask for itself. */
type Hear = (news: News | null) => void;

interface RowsEvent {
  keys?: string[];
  rows: Record<string, unknown>;
}

/** The console beats every 5 s: after a longer silence, a proxy holds its events back, or the connection is dead. */
const SILENCE_MS = 12_000;
/** How long until a cut stream is tried again, in milliseconds. */
const AGAIN_MS = 10_000;

const hearers = new Map<string, Set<Hear>>();
let source: EventSource | null = null;
let open = '';
let delivering = false;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Hears of changes of a topic, if the console tells them; returns a function that ends it. */
export function listen(topic: string, hear: Hear): () => void {
  if (!TOPICS.has(topic) || typeof EventSource === 'undefined') return () => undefined;
  const others = hearers.get(topic) ?? new Set();
  hearers.set(topic, others.add(hear));
  document.addEventListener('visibilitychange', connect);
  queueMicrotask(connect);
  return () => {
    others.delete(hear);
    if (others.size === 0) hearers.delete(topic);
    queueMicrotask(connect);
  };
}

function tell(news: News | null, topics: Iterable<string> = hearers.keys()): void {
  for (const topic of topics) for (const hear of hearers.get(topic) ?? []) hear(news);
}

/** Opens a stream of the topics that are heard now; a hidden page has none, for browsers open six to a server at most. */
function connect(): void {
  const wanted = document.hidden ? '' : [...hearers.keys()].sort().join(',');
  if (wanted === open && (source !== null || wanted === '')) return;
  cut(wanted);
  if (wanted === '') return;
  const mine = new EventSource(`/api/events?topics=${wanted}`);
  source = mine;
  const awake = (): void => {
    delivering = true;
    clearTimeout(timer);
    timer = setTimeout(lost, SILENCE_MS);
  };
  timer = setTimeout(lost, SILENCE_MS);
  mine.onerror = lost;
  mine.addEventListener('ended', () => {
    cut('');
    sessionEnded();
  });
  mine.addEventListener('beat', ({ data }) => {
    awake();
    const { ageMs, problem } = JSON.parse(data) as {
      ageMs: number;
      problem: { code: string; message: string; hint?: string } | null;
    };
    const error =
      problem === null ? null : new ApiError(503, problem.code, problem.message, problem.hint, {});
    tell({ rows: undefined, ageMs, error });
  });
  for (const topic of wanted.split(',')) {
    let keys: string[] = [];
    let rows: Record<string, unknown> = {};
    mine.addEventListener(topic, ({ data }) => {
      awake();
      const event = JSON.parse(data) as RowsEvent;
      keys = event.keys ?? keys;
      rows = Object.fromEntries(keys.map((key) => [key, event.rows[key] ?? rows[key]]));
      tell({ rows: keys.map((key) => rows[key]), ageMs: 0, error: null }, [topic]);
    });
  }
}

/** The stream is cut: pages ask for themselves, and it is tried again later. */
function lost(): void {
  cut('');
  timer = setTimeout(connect, AGAIN_MS);
}

function cut(next: string): void {
  clearTimeout(timer);
  source?.close();
  source = null;
  open = next;
  if (delivering) tell(null);
  delivering = false;
}
