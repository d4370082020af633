import type { Action } from './action.js';

/** One line for an action: its name and what it was given. */
export function describeAction({ do: name, ...rest }: Action): string {
  const given = Object.entries(rest).map(([key, value]) => `${key}=${text(value)}`);
  return [name, ...given].join(' ');
}

function text(value: unknown): string {
  if (typeof value === 'number') return Number.isInteger(value) ? String(value) : value.toFixed(2);
  if (Array.isArray(value)) return value.join('+');
  if (typeof value === 'object' && value !== null) {
    const { role, index } = value as { role: string; index: number };
    return `${role}#${index}`;
  }
  return String(value);
}
