import { useEffect, useState } from 'preact/hooks';
import { type Query, toQuery } from './query.js';

/** Where the page is: `#/backfills/7?network=main` is path `backfills/7`, its parts, and query `network=main`. */
interface Route {
  path: string;
  parts: readonly string[];
  /** Fields without a text are left out. */
  query: Readonly<Record<string, string | undefined>>;
}

export function getRoute(hash: string): Route {
  const [encoded = '', query = ''] = hash.replace(/^#?\/?/, '').split('?');
  const path = decode(encoded);
  const fields = [...new URLSearchParams(query)].filter(([, value]) => value !== '');
  return { path, parts: path.split('/').filter(Boolean), query: Object.fromEntries(fields) };
}

/** A text with a lone percent sign stays as it is. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The route, and again whenever it changes. */
export function useRoute(): Route {
  const [route, setRoute] = useState(() => getRoute(location.hash));
  useEffect(() => {
    const moved = (): void => setRoute(getRoute(location.hash));
    addEventListener('hashchange', moved);
    return () => removeEventListener('hashchange', moved);
  }, []);
  return route;
}

/** The address of a route. */
export const toHref = (path: string, query: Query = {}): string => `#/${path}${toQuery(query)}`;
