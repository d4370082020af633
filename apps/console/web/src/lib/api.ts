import type { Answer, Input, OperationName } from './answers.js';
import { learnTime } from './clock.js';
import { noteSession, takeEarly } from './early.js';
import { toQuery } from './query.js';

/** An error of the console. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly hint: string | undefined,
    readonly data: Readonly<Record<string, unknown>>,
  ) {
    super(message);
  }
}

export interface Session {
  name: string;
  role: 'owner' | 'viewer' | 'operator' | 'admin';
  /** Whether an API key signed in: it sees itself alone. */
  isKey: boolean;
  csrf: string | null;
}

const TIMEOUT_MS = 30_000;

let csrf = '';
let ended = (): void => undefined;

/** Calls this if an answer says that the session has ended. */
export function onSessionEnd(call: () => void): void {
  ended = call;
}

/** The session has ended, as an event said. */
export const endSession = (): void => ended();

/** Reads something; arrays become text with commas, undefined is left out. Throws ApiError. */
export function read<N extends OperationName>(
  name: N,
  query: Input<N>,
  signal?: AbortSignal,
): Promise<Answer<N>> {
  return send(`/api/${name}${toQuery(query)}`, { signal: signal ?? null });
}

/** Changes something. Throws ApiError. */
export const change = <N extends OperationName>(name: N, input: Input<N>): Promise<Answer<N>> =>
  post(name, input);

function post<T>(name: string, input: object): Promise<T> {
  return send(`/api/${name}`, {
    method: 'POST',
    body: JSON.stringify(input),
    headers: { 'content-type': 'application/json', 'x-csrf-token': csrf },
  });
}

/** The session; null: not signed in. */
export async function readSession(): Promise<Session | null> {
  try {
    return keep(await send<Session>('/api/session', {}));
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 401)) throw error;
    noteSession(false);
    return null;
  }
}

/** The ways to sign in. */
export interface SignInWays {
  password: boolean;
  /** The provider; null: none. */
  oidc: {
    label: string;
    /** Why it could not be used last; null: it could. */
    unavailable: string | null;
    /** Why the last attempt of this browser failed. */
    problem: { code: string; message: string; hint?: string } | null;
  } | null;
}

/** The ways to sign in, without a session. Throws ApiError. */
export const readSignInWays = (): Promise<SignInWays> => send('/api/sign-in', {});

/** Signs in by a link, a name and a password, or an API key. Throws ApiError. */
export async function signIn(given: object): Promise<Session> {
  return keep(await post<Session>('sign-in', given));
}

export async function signOut(): Promise<void> {
  noteSession(false);
  await post('sign-out', {});
  csrf = '';
}

function keep(session: Session): Session {
  noteSession(true, session.role !== 'owner');
  csrf = session.csrf ?? '';
  return session;
}

/** The bytes of a published file: `<network>/<kind>/<first block>`. Throws ApiError. */
export async function readFile(place: string): Promise<ArrayBuffer> {
  const answer = await getAnswer(`/api/files/${place}`, {});
  return answer.arrayBuffer().catch(() => {
    throw new ApiError(0, 'AWAY', 'The download was interrupted.', 'Open the file again.', {});
  });
}

async function send<T>(url: string, init: RequestInit): Promise<T> {
  const answer = await getAnswer(url, init);
  try {
    const text = await answer.text();
    return (text === '' ? null : JSON.parse(text)) as T;
  } catch (error) {
    // Half of an answer is none: not even an empty one.
    if (init.signal?.aborted) throw error;
    const message = 'The response was cut off, or did not come from the console.';
    throw new ApiError(0, 'AWAY', message, 'This page retries automatically.', {});
  }
}

/** The answer if it is a good one. Throws ApiError. */
async function getAnswer(url: string, init: RequestInit): Promise<Response> {
  const late = AbortSignal.timeout(TIMEOUT_MS);
  const signal = init.signal ? AbortSignal.any([init.signal, late]) : late;
  let answer: Response;
  try {
    const early = init.method === undefined ? takeEarly(url) : undefined;
    answer = await (early ?? fetch(url, { ...init, signal, credentials: 'same-origin' }));
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new ApiError(0, 'AWAY', 'The console is not responding.', 'This page retries automatically.', {});
  }
  learnTime(answer.headers.get('date'));
  if (answer.ok) return answer;
  const body = await answer.json().catch(() => null);
  const {
    code = 'INTERNAL',
    message = `The console responded with HTTP ${answer.status}.`,
    hint,
    data = {},
  } = (body as { error?: Partial<ApiError> } | null)?.error ?? {};
  if (answer.status === 401 && url !== '/api/sign-in' && url !== '/api/session') ended();
  throw new ApiError(answer.status, code, message, hint, data);
}
