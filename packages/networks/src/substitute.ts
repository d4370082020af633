/** `${NAME}`, and nothing else: a dollar sign alone is a dollar sign. */
const VARIABLE = /\$\{([^}]*)\}/g;

/** A variable that is missing or malformed, and the place that names it. */
interface MissingVariable {
  path: (string | number)[];
  name: string;
}

/**
 * Fills `${NAME}` in from the environment, in the values of `url` and `ws` fields and under `headers` and nowhere else.
 * Returns a new tree and what was missing; an empty variable is missing too.
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
