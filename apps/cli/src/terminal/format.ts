import type { BlockRange } from '@packhouse/chain';

/** `1234567` as `1,234,567`. */
export function formatCount(count: number): string {
  return count.toLocaleString('en-US');
}

/** A count with its noun: `1 file`, `1,234 files`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

/** `17` or `17-99`. */
export function formatRange(start: number, end: number): string {
  return start === end ? String(start) : `${start}-${end}`;
}

/** Bytes in decimal units, three digits. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 || value >= 99.95 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

/** Seconds as `45 s`, `12 min`, `3 h 20 min`, `2 d 4 h`. */
export function formatDuration(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 90) return `${whole} s`;
  const minutes = Math.round(whole / 60);
  if (minutes < 90) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** A block range as JSON has it. */
export function toPublicRange<T extends BlockRange>({ firstBlock: from, lastBlock: to, ...rest }: T) {
  return { from, to, ...rest };
}

/** A time in UTC, up to the second: `2026-11-28T10:00:00Z`. */
export function formatTime(time: Date): string {
  return `${time.toISOString().slice(0, 19)}Z`;
}
