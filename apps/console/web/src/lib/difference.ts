import { formatCount, formatDate } from './format.js';

type Fields = Readonly<Record<string, unknown>>;

/** What differs between two states of a thing: `blocks 0-500; priority 100 → 7; windows none → Sat, Sun`. */
export function formatDifferences(before: Fields | null, after: Fields | null): string {
  const [old, now] = [toShown(before ?? {}), toShown(after ?? {})];
  return [...new Set([...Object.keys(old), ...Object.keys(now)])]
    .flatMap((name) => {
      const [was, is] = [formatValue(old[name]), formatValue(now[name])];
      if (was === is) return [];
      if (before === null) return [`${name} ${is}`];
      return [after === null ? `${name} ${was}` : `${name} ${was} → ${is}`];
    })
    .join('; ');
}

/** Its fields by names as they are read; the two ends of a range are one field, and the first. */
function toShown({ from, to, ...others }: Fields): Fields {
  const named = Object.entries(others).map(([name, value]) => [toWords(name), value]);
  if (typeof from !== 'number') return Object.fromEntries([['from', from], ['to', to], ...named]);
  const end = typeof to === 'number' ? `-${formatCount(to)}` : ' on';
  const blocks = from === to ? formatCount(from) : `${formatCount(from)}${end}`;
  return Object.fromEntries([['blocks', blocks], ...named]);
}

/** `max requests`, of `maxRequests`. */
const toWords = (name: string): string => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/** A value as a person reads it. */
function formatValue(value: unknown): string {
  if (value === null || value === undefined || value === '') return 'none';
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(formatValue).join(', ');
  if (typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value)) return formatDate(value);
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
