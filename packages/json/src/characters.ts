export function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** A table with 1 for each of these characters. */
export function byteSet(characters: string): Uint8Array {
  const set = new Uint8Array(256);
  for (const character of characters) set[character.charCodeAt(0)] = 1;
  return set;
}

/** The text between the quotes of a JSON string. */
export function resolveEscapes(text: string): string {
  return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text;
}
