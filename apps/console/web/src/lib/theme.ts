const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const KEY = 'packhouse.theme';
const listeners = new Set<() => void>();

/** The choice of this browser; what else is stored counts as `system`. */
export function getTheme(): Theme {
  const stored = readStored();
  return THEMES.find((each) => each === stored) ?? 'system';
}

/** Applies a choice and keeps it. */
export function setTheme(theme: Theme): void {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // Without storage it holds until the page is closed.
  }
  applyTheme(theme);
  for (const listener of listeners) listener();
}

export function applyTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

/** Calls this if colours change, by choice or by the system; returns a function that ends it. */
export function onThemeChange(listener: () => void): () => void {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  dark.addEventListener('change', listener);
  listeners.add(listener);
  return () => {
    dark.removeEventListener('change', listener);
    listeners.delete(listener);
  };
}

function readStored(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}
