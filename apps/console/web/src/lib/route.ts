import { useEffect, useState } from 'preact/hooks';

/** Where the page is: `#/backfills/7?network=main` is path `backfills/7` and query `network=main`. */
export interface Route {
  path: string;
  query: URLSearchParams;
}

export function routeOf(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#?\/?/, '').split('?');
  return { path: decoded(path), query: new URLSearchParams(query) };
}

/** A text with a lone percent sign stays as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The route, and again whenever it changes. */
export function useRoute(): Route {
  const [route, setRoute] = useState(() => routeOf(location.hash));
  useEffect(() => {
    const moved = (): void => setRoute(routeOf(location.hash));
    addEventListener('hashchange', moved);
    return () => removeEventListener('hashchange', moved);
  }, []);
  return route;
}

/** The address of a route. */
export function hrefOf(
  path: string,
  query: Readonly<Record<string, string | number | undefined>> = {},
): string {
  const given = Object.entries(query).flatMap(([key, value]) =>
    value === undefined ? [] : [[key, String(value)]],
  );
  const text = new URLSearchParams(given).toString();
  return `#/${path}${text === '' ? '' : `?${text}`}`;
}
