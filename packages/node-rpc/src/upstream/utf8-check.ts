import { isUtf8 } from 'node:buffer';

const NOTHING = Buffer.alloc(0);

/** Checks that bytes which arrive in pieces are UTF-8 text. */
export class Utf8Check {
  /** The beginning of a character that the last piece cut off. */
  #cut: Buffer = NOTHING;

  /** Takes the next piece; false if it is not UTF-8. A character that is never completed is not noticed. */
  push(piece: Buffer): boolean {
    let from = 0;
    if (this.#cut.length > 0) {
      from = Math.min(piece.length, getLength(this.#cut[0] as number) - this.#cut.length);
      const more = piece.subarray(0, from);
      const character = Buffer.concat([this.#cut, more]);
      if (character.length < getLength(character[0] as number)) {
        this.#cut = character;
        return more.every((byte) => byte >= 0x80 && byte < 0xc0);
      }
      this.#cut = NOTHING;
      if (!isUtf8(character)) return false;
    }
    const to = this.#wholeUntil(piece, from);
    return isUtf8(from === 0 && to === piece.length ? piece : piece.subarray(from, to));
  }

  /** Where the last character that is complete ends; what follows is kept. */
  #wholeUntil(piece: Buffer, from: number): number {
    for (let at = piece.length - 1; at >= from && at >= piece.length - 3; at--) {
      const byte = piece[at] as number;
      if (byte < 0x80) break;
      if (byte < 0xc0) continue;
      if (at + getLength(byte) <= piece.length) break;
      // A copy: the piece need not stay in memory for it.
      this.#cut = Buffer.from(piece.subarray(at));
      return at;
    }
    return piece.length;
  }
}

/** Bytes of a character by its first byte, which is not ASCII. */
function getLength(byte: number): number {
  if (byte >= 0xf0) return 4;
  return byte >= 0xe0 ? 3 : 2;
}
