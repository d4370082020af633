/** Fields of an address or of a request; those that are undefined are left out. */
export type Query = Readonly<Record<string, unknown>>;

/** `?network=main&from=7`; arrays become text with commas. Empty if there are none. */
export function toQuery(fields: Query): string {
  const given = Object.entries(fields).flatMap(([key, value]) =>
    value === undefined ? [] : [[key, String(value)]],
  );
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}
