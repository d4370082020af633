import { getNow } from './clock.js';

/** 12,345 */
export const formatCount = (value: number): string => value.toLocaleString('en-US');

/** 1 file, 12,345 files, 2 entries. */
export const pluralize = (count: number, noun: string, nouns = `${noun}s`): string =>
  `${formatCount(count)} ${count === 1 ? noun : nouns}`;

/** 12,345 or 0.42: events per second. */
export const formatRate = (value: number): string =>
  value >= 10
    ? formatCount(Math.round(value))
    : value.toLocaleString('en-US', { maximumSignificantDigits: 2 });

/** 1.2 GB */
export function formatBytes(value: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'];
  let [left, unit] = [value, 0];
  for (; left >= 1_000 && unit < units.length - 1; unit++) left /= 1_000;
  return `${left >= 100 || unit === 0 ? Math.round(left) : left.toFixed(1)} ${units[unit]}`;
}

/** 3 d 4 h, of milliseconds. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** 12,000 to 13,999, or 12,000 alone. */
export const formatBlocks = ({ from, to }: { from: number; to: number }): string =>
  from === to ? formatCount(from) : `${formatCount(from)} to ${formatCount(to)}`;

/** A block's number, if it is known. */
export const formatBlock = (number: number | null): string =>
  number === null ? 'unknown' : formatCount(number);

/** `2026-11-22T17:00:05`, in the zone of the browser. */
export function toLocalIso(value: string | number): string {
  const date = new Date(value);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

/** 2026-11-22 17:00:05, in the zone of the browser. */
export const formatDate = (value: string | number): string => toLocalIso(value).replace('T', ' ');

/** 17:00, or on another day 2026-11-22 17:00, in the zone of the browser. */
export function formatTime(value: string | number): string {
  const text = formatDate(value).slice(0, 16);
  return text.startsWith(formatDate(getNow()).slice(0, 10)) ? text.slice(11) : text;
}

/** How long ago. */
export const formatAgo = (value: string): string =>
  `${formatDuration(getNow() - new Date(value).getTime())} ago`;
