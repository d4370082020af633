/** Path of a value inside a JSON document. */
export type Path = readonly (string | number)[];

/** The value at `path`. */
export function valueAt(root: unknown, path: Path): unknown {
  return path.reduce<unknown>((value, key) => (value as Record<string | number, unknown>)[key], root);
}

/** Puts `value` at `path` while `work` runs. */
export function changed<T>(root: unknown, path: Path, value: unknown, work: () => T): T {
  const holder = valueAt(root, path.slice(0, -1)) as Record<string | number, unknown>;
  const key = path.at(-1)!;
  const before = holder[key];
  holder[key] = value;
  try {
    return work();
  } finally {
    holder[key] = before;
  }
}

/** The value with one nibble changed; a value without one becomes another of the same type. */
export function flipped(value: unknown): unknown {
  if (value === null) return `0x${'12'.repeat(20)}`;
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'number') return value + 1;
  const text = value as string;
  if (text === '0x') return '0x12';
  const digit = Number.parseInt(text.at(-1)!, 16) ^ 1;
  return text.slice(0, -1) + digit.toString(16);
}

/** Paths of all strings, numbers, booleans and nulls in `value`. */
export function leaves(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  return Object.entries(value).flatMap(([key, item]) =>
    leaves(item, [...path, Array.isArray(value) ? Number(key) : key]),
  );
}

/** The error that `work` throws. */
export function thrown(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  return undefined;
}
