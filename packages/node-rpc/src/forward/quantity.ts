/** The number of a QUANTITY; null where it is none, or beyond what a number holds exactly. */
export function quantity(value: unknown): number | null {
  if (typeof value !== 'string' || !/^0x[0-9a-f]{1,13}$/i.test(value)) return null;
  return Number(value);
}
