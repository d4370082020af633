/** An error as the console tells it. */
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
  csrf: string | null;
}

/** How long an answer may take, in milliseconds. */
const TIMEOUT_MS = 30_000;

let csrf = '';
let ended = (): void => undefined;

/** Calls this whenever an answer says that nobody is signed in. */
export function onSessionEnd(call: () => void): void {
  ended = call;
}

/** The session has ended, as something else than an answer said. */
export const sessionEnded = (): void => ended();

/** Reads something; arrays become text with commas, undefined is left out. Throws ApiError. */
export function read<T>(
  name: string,
  query: Readonly<Record<string, unknown>> = {},
  signal?: AbortSignal,
): Promise<T> {
  const text = new URLSearchParams(
    Object.entries(query).flatMap(([key, value]) => (value === undefined ? [] : [[key, String(value)]])),
  ).toString();
  return send<T>(`/api/${name}${text === '' ? '' : `?${text}`}`, { signal: signal ?? null });
}

/** Changes something. Throws ApiError. */
export function change<T>(name: string, input: object): Promise<T> {
  return send<T>(`/api/${name}`, {
    method: 'POST',
    body: JSON.stringify(input),
    headers: { 'content-type': 'application/json', 'x-csrf-token': csrf },
  });
}

/** Who is signed in; null: nobody. */
export async function currentSession(): Promise<Session | null> {
  try {
    return keep(await send<Session>('/api/session', {}));
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return null;
    throw error;
  }
}

/** Signs in by a link, a name and a password, or an API key. Throws ApiError. */
export async function signIn(given: object): Promise<Session> {
  return keep(await change<Session>('sign-in', given));
}

export async function signOut(): Promise<void> {
  await change('sign-out', {});
  csrf = '';
}

function keep(session: Session): Session {
  csrf = session.csrf ?? '';
  return session;
}

/** The bytes of a published file: `<network>/<kind>/<first block>`. Throws ApiError. */
export async function readFile(place: string): Promise<ArrayBuffer> {
  const answer = await answerOf(`/api/files/${place}`, {});
  return answer.arrayBuffer().catch(() => {
    throw new ApiError(0, 'AWAY', 'The file was cut off on its way.', 'Open it again.', {});
  });
}

async function send<T>(url: string, init: RequestInit): Promise<T> {
  return (await (await answerOf(url, init)).json().catch(() => null)) as T;
}

/** The answer if it is a good one. Throws ApiError. */
async function answerOf(url: string, init: RequestInit): Promise<Response> {
  const late = AbortSignal.timeout(TIMEOUT_MS);
  const signal = init.signal ? AbortSignal.any([init.signal, late]) : late;
  let answer: Response;
  try {
    answer = await fetch(url, { ...init, signal, credentials: 'same-origin' });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new ApiError(0, 'AWAY', 'The console does not answer.', 'This page tries again by itself.', {});
  }
  if (answer.ok) return answer;
  const body = await answer.json().catch(() => null);
  const {
    code = 'INTERNAL',
    message = `The console answered with HTTP ${answer.status}.`,
    hint,
    data = {},
  } = (body as { error?: Partial<ApiError> } | null)?.error ?? {};
  if (answer.status === 401 && url !== '/api/sign-in' && url !== '/api/session') ended();
  throw new ApiError(answer.status, code, message, hint, data);
}
