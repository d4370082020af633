/** `,"name":"value"`, `,"name":null`, or nothing where the field is absent; `value` must need no escaping. */
export function member(name: string, value: string | null | undefined): string {
  if (value === undefined) return '';
  return value === null ? `,"${name}":null` : `,"${name}":"${value}"`;
}

/** As `member`, for a value that is JSON already (`true`, `null`, an array). */
export function jsonMember(name: string, json: string | undefined): string {
  return json === undefined ? '' : `,"${name}":${json}`;
}

/** `"value"`, or `null`. */
export function nullable(value: string | null): string {
  return value === null ? 'null' : `"${value}"`;
}

/** The canonical array of strings that need no escaping. */
export function stringArray(values: readonly string[]): string {
  if (values.length === 0) return '[]';
  let text = `["${values[0]}`;
  for (let at = 1; at < values.length; at++) text += `","${values[at]}`;
  return `${text}"]`;
}
