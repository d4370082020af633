import { createStored } from './storage.js';

const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const stored = createStored('packhouse.theme');
const listeners = new Set<() => void>();

/** The choice of this browser; what else is stored counts as `system`. */
export function getTheme(): Theme {
  const kept = stored.read();
  return THEMES.find((each) => each === kept) ?? 'system';
}

/** Applies a choice and keeps it. */
export function setTheme(theme: Theme): void {
  stored.write(theme);
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
