import { toQuery } from './query.js';
import { getRoute } from './route.js';
import { createStored } from './storage.js';

/**
 * Whether this browser was signed in last: without a session the data of a screen are not asked for. `own`: somebody who
 * sees what is theirs alone, and has no Overview.
 */
const stored = createStored('packhouse.signed-in');
/** An answer that nobody took by then is out of date. */
const FRESH_MS = 10_000;
const SIGN_IN = '/api/sign-in';
const TIMEOUT_MS = 30_000;

interface Early {
  /** By URL; each is taken once. */
  answers: Map<string, Promise<Response>>;
  at: number;
}
/** Two scripts share it: the one in the HTML begins the requests, that of the page takes their answers. */
const shared = globalThis as { packhouseEarly?: Early };

/** Begins the requests of the first screen, and to load the code of a screen that is not in the first script. */
export function beginEarly(hash: string): void {
  const signedIn = stored.read();
  const { parts, query } = getRoute(hash);
  const isOverview = parts[0] === undefined || parts[0] === 'overview';
  const urls = ['/api/session'];
  if (signedIn === null) urls.push(SIGN_IN);
  else if (signedIn !== 'own' && isOverview)
    urls.push('/api/overview', `/api/findings${toQuery({ network: query.network })}`);
  const begin = (url: string): [string, Promise<Response>] => {
    const answer = fetch(url, { credentials: 'same-origin', signal: AbortSignal.timeout(TIMEOUT_MS) });
    // What takes it sees the error.
    answer.catch(() => undefined);
    return [url, answer];
  };
  shared.packhouseEarly = { answers: new Map(urls.map(begin)), at: performance.now() };
  if (signedIn !== null) document.documentElement.dataset.session = '';
  const screens = document.querySelector<HTMLMetaElement>('meta[name="screens"]')?.content;
  if (isOverview || screens === undefined) return;
  document.head.append(
    Object.assign(document.createElement('link'), { rel: 'modulepreload', href: screens }),
  );
}

/** The answer to a request that was begun early; undefined: it was not, it was taken, or it is old. */
export function takeEarly(url: string): Promise<Response> | undefined {
  const early = shared.packhouseEarly;
  const answer = early?.answers.get(url);
  if (early === undefined || answer === undefined || performance.now() - early.at > FRESH_MS)
    return undefined;
  early.answers.delete(url);
  return answer;
}

/** Notes whether somebody is signed in now, and sees all. What was asked for without a session is forgotten. */
export function noteSession(signedIn: boolean, seesAll = true): void {
  const answers = shared.packhouseEarly?.answers;
  if (!signedIn) for (const url of answers?.keys() ?? []) if (url !== SIGN_IN) answers?.delete(url);
  stored.write(signedIn ? (seesAll ? 'yes' : 'own') : null);
}
