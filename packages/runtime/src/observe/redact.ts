/** The form of an API key: 8 public letters or digits, and 32 random bytes as base64url. */
export const API_KEY = /ph_[A-Za-z0-9]{8}_[A-Za-z0-9_-]{43}/;
const WHOLE_KEY = new RegExp(`^${API_KEY.source}$`);

/** Whether a text is a whole API key and nothing else. */
export function isApiKey(text: string): boolean {
  return WHOLE_KEY.test(text);
}

/**
 * API keys of Packhouse: `ph_<8 public>_<43 secret>`; the secret part is removed. Any character may be
 * percent-encoded, more than once (`%70`, `%2570`).
 */
const ENCODED = '%(?:25){0,3}';
const KEY = new RegExp(
  `((?:p|${ENCODED}70)(?:h|${ENCODED}68)(?:_|${ENCODED}5f)(?:[A-Za-z0-9]|${ENCODED}[3-7][0-9a-f]){8})(?:_|${ENCODED}5f)(?:[\\w-]|${ENCODED}[2-7][0-9a-f]){8,}`,
  'gi',
);

/**
 * Addresses. A backslash ends one, so that a line of JSON stays JSON (`\"` must keep both its characters); the
 * bounds keep the time linear in the text.
 */
const ADDRESS =
  /\b([a-z][a-z0-9+.-]{0,15}):\/\/(?:([^\s/?#"'\\<>]{0,2000})@)?([^\s/?#"'\\<>]*)([^\s?#"'\\<>]*)(\?[^\s#"'\\<>]*)?(#[^\s"'\\<>]*)?/gi;

/** Values of fields that are secrets by their name, quoted as in JSON or plain as in headers and query strings. */
const NAMED =
  /(authorization|x-api-key|api[-_]?key|password|passwd|secret)(\\?["']\s{0,5}:\s{0,5}\\?["']|\s{0,5}[:=]\s{0,5})((?:bearer|basic)\s{1,5})?[^\s"'\\,;&}]{4,}/gi;

const AUTHORITY = /^(\[[0-9a-f:.]+\]|[^:[\]]*)(:\d{1,5})?$/i;
/** Node providers put keys into paths; the paths of these schemes are not secret (database names, buckets, files). */
const OPEN_PATHS = new Set(['postgres', 'postgresql', 'redis', 'rediss', 's3', 'file', 'node']);

/** Addresses in hints, which can be pasted as they are. */
const EXAMPLES: ReadonlySet<string> = new Set([
  'https://data.example.com/ethereum',
  'postgres://me@localhost/chain?table=logs',
]);

/**
 * Removes API keys, credentials, paths and query strings of addresses, and values of secret fields from a text.
 *
 * Everything else is unchanged, and JSON stays JSON. Linear in the length of the text.
 */
export function redact(text: string): string {
  return text.replace(KEY, '$1_***').replace(ADDRESS, hideAddress).replace(NAMED, '$1$2$3***');
}

function hideAddress(
  whole: string,
  scheme: string,
  user: string | undefined,
  host: string,
  path: string,
  query: string | undefined,
  fragment: string | undefined,
): string {
  // Punctuation of the sentence around the address; a closing bracket may belong to the address.
  const tail = /[),.;:!}]*$/.exec(whole)?.[0] ?? '';
  if (EXAMPLES.has(whole.slice(0, whole.length - tail.length))) return whole;
  const bare = (part: string): string =>
    tail !== '' && part.endsWith(tail) ? part.slice(0, -tail.length) : part;
  const last = fragment ?? query ?? (path === '' ? undefined : path);
  const authority = last === undefined ? bare(host) : host;
  const shownHost = AUTHORITY.test(authority) ? authority : '***';
  const ownPath = query === undefined && fragment === undefined ? bare(path) : path;
  const shownPath =
    ownPath.length <= 1 || (OPEN_PATHS.has(scheme.toLowerCase()) && !ownPath.includes('@'))
      ? ownPath
      : '/***';
  return `${scheme}://${user === undefined ? '' : '***@'}${shownHost}${shownPath}${query === undefined ? '' : '?***'}${fragment === undefined ? '' : '#***'}${tail}`;
}
