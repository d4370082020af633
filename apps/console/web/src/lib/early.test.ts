import { afterEach, describe, expect, test, vi } from 'vitest';
import { beginEarly, noteSession, takeEarly } from './early.js';

/** The browser's part: what is stored, and what was asked for. */
function useBrowser(signedIn: boolean) {
  const asked: string[] = [];
  const stored = new Map(signedIn ? [['packhouse.signed-in', 'yes']] : []);
  const links: { href?: string }[] = [];
  vi.stubGlobal('fetch', async (url: string) => {
    asked.push(url);
    return new Response(url);
  });
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => stored.set(key, value),
    removeItem: (key: string) => stored.delete(key),
  });
  vi.stubGlobal('document', {
    documentElement: { dataset: {} },
    querySelector: () => ({ content: '/assets/other.js' }),
    createElement: () => ({}),
    head: { append: (link: object) => links.push(link) },
  });
  return { asked, stored, links };
}

afterEach(() => void vi.unstubAllGlobals());

describe('the requests of the first screen', () => {
  test('of Overview are its data and the session; each answer is taken once', async () => {
    const { asked, links } = useBrowser(true);
    beginEarly('#/overview?network=main');
    expect(asked).toEqual(['/api/session', '/api/overview', '/api/findings?network=main']);
    expect(await (await takeEarly('/api/overview'))?.text()).toBe('/api/overview');
    expect(takeEarly('/api/overview')).toBeUndefined();
    expect(takeEarly('/api/nodes')).toBeUndefined();
    expect(links).toEqual([]);
  });

  test('of another screen are the session and the code of the screens', () => {
    const { asked, links } = useBrowser(true);
    beginEarly('#/nodes');
    expect(asked).toEqual(['/api/session']);
    expect(links).toEqual([{ rel: 'modulepreload', href: '/assets/other.js' }]);
  });

  test('without a session are the ways to sign in, and nothing that needs one', () => {
    const { asked } = useBrowser(false);
    beginEarly('');
    expect(asked).toEqual(['/api/session', '/api/sign-in']);
  });

  test('of somebody who sees what is theirs alone is the session, and not the ways to sign in', () => {
    const { asked } = useBrowser(false);
    noteSession(true, false);
    beginEarly('');
    expect(asked).toEqual(['/api/session']);
  });

  test('an answer from before a sign-in is not taken after it', () => {
    const { stored } = useBrowser(true);
    beginEarly('');
    noteSession(false);
    noteSession(true);
    expect(takeEarly('/api/overview')).toBeUndefined();
    expect([...stored]).toEqual([['packhouse.signed-in', 'yes']]);
  });

  test('an answer that nobody took in time is not taken later', () => {
    useBrowser(true);
    const now = vi.spyOn(performance, 'now').mockReturnValue(0);
    beginEarly('');
    now.mockReturnValue(10_001);
    expect(takeEarly('/api/overview')).toBeUndefined();
    now.mockRestore();
  });
});
