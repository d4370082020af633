type Fields = Readonly<Record<string, unknown>> | null;

/** What differs between two states of a thing: `priority 100 → 7; windows none → Sat, Sun`. */
export function formatDifferences(before: Fields, after: Fields): string {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  return names
    .flatMap((name) => {
      const [was, is] = [formatValue(before?.[name]), formatValue(after?.[name])];
      if (was === is) return [];
      if (before === null) return [`${name} ${is}`];
      return [after === null ? `${name} ${was}` : `${name} ${was} → ${is}`];
    })
    .join('; ');
}

/** A value as a person reads it. */
function formatValue(value: unknown): string {
  if (value === null || value === undefined || value === '') return 'none';
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(formatValue).join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
