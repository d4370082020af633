export { type Cut, chooseCut } from './choose-cut.js';
export { crc32Combine } from './crc32-combine.js';
export { createGrouper, FRAGMENT_BYTES, type Group, type Grouper } from './create-grouper.js';
export { deflatePiece } from './deflate-piece.js';
export { fileName, parseFileName } from './file-name.js';
export type { Fragment, FragmentInfo, Piece } from './fragment.js';
export { fragmentOf } from './fragment-of.js';
export { decodeFragmentTable, encodeFragmentTable } from './fragment-table.js';
export { inflateFragment } from './inflate-fragment.js';
export { joinPieces } from './join-pieces.js';
export {
  MEMBER_HEAD_BYTES,
  MEMBER_TAIL_BYTES,
  type MemberFrame,
  memberFrame,
  memberSize,
  SEPARATOR_BYTES,
} from './member-frame.js';
export { memberOfRecord } from './member-of-record.js';
export { type ObjectName, objectKey, parseObjectKey } from './object-key.js';
export { createPieceWriter, type PieceWriter } from './piece-writer.js';
export { type BundleText, readBundle } from './read-bundle.js';
export { readElements } from './read-elements.js';
export { readFragment } from './read-fragment.js';
export { type MemberFragment, readMember } from './read-member.js';
export { readRecord } from './read-record.js';
export { readRecords } from './read-records.js';
export { type MemberSlice, sliceOfMember } from './slice-of-member.js';
export { type Member, spliceMember } from './splice-member.js';
export { splitArray } from './split-array.js';
export { splitSlice } from './split-slice.js';
