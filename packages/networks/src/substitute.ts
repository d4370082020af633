/** `${NAME}` only; a single dollar sign has no meaning. */
const VARIABLE = /\$\{([^}]*)\}/g;

/** A missing or malformed variable, and the place that uses it. */
interface MissingVariable {
  path: (string | number)[];
  name: string;
}

/**
 * Replaces `${NAME}` by the variable of the environment in `url` and `ws` fields and under `headers`, nowhere else.
 * Returns a new tree and the missing variables; an empty variable counts as missing.
 */
export function substitute(
  tree: unknown,
  env: Record<string, string | undefined>,
): { tree: unknown; missing: MissingVariable[] } {
  const missing: MissingVariable[] = [];
  const walk = (value: unknown, path: (string | number)[], filled: boolean): unknown => {
    if (typeof value === 'string') {
      if (!filled) return value;
      return value.replace(VARIABLE, (whole, name: string) => {
        const text = Object.hasOwn(env, name) ? env[name] : undefined;
        if (text === undefined || text === '') {
          missing.push({ path, name });
          return whole;
        }
        return text;
      });
    }
    if (Array.isArray(value)) return value.map((item, index) => walk(item, [...path, index], filled));
    if (value !== null && typeof value === 'object') {
      return Object.fromEntries(
        Object.entries(value).map(([key, item]) => [
          key,
          walk(item, [...path, key], filled || key === 'url' || key === 'ws' || key === 'headers'),
        ]),
      );
    }
    return value;
  };
  return { tree: walk(tree, [], false), missing };
}
