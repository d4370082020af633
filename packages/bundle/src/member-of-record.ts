import { deflatePiece } from './deflate-piece.js';
import { fragmentOf } from './fragment-of.js';
import { type Member, spliceMember } from './splice-member.js';

/** The file of one block (`n-n.json.gz`) from its record text, for a block that shares its fragment with others. */
export async function memberOfRecord(text: Buffer, level = 4): Promise<Member> {
  const piece = await deflatePiece(text, level);
  return spliceMember([fragmentOf({ start: 0, end: 0 }, piece)], [piece.body]);
}
