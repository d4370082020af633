/** Takes a restriction away, in place of a value. */
export const ANY = 'any';

/** Null: the restriction is taken away; undefined: it stays. */
export function toNull(given: string | undefined): string | null | undefined {
  return given === ANY ? null : given;
}

/** An empty list: the restriction is taken away; undefined: it stays. */
export function toList(given: string[] | undefined): string[] | undefined {
  return given?.length === 1 && given[0] === ANY ? [] : given;
}
