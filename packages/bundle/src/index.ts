export { filterFits, filterOfBundle } from './bundle-filter.js';
export { createRangeCheck, type RangeCheck } from './check-range.js';
export { chooseCut } from './choose-cut.js';
export { createGrouper, FRAGMENT_BYTES, type Group } from './create-grouper.js';
export { createPieceWriter, type Deflate, deflatePiece, joinPieces } from './deflate-piece.js';
export { createDeflater } from './deflater.js';
export { filterItem, hasFilter } from './filter-items.js';
export { type Fragment, type FragmentInfo, fragmentOf, type Piece } from './fragment.js';
export { decodeFragmentTable, encodeFragmentTable } from './fragment-table.js';
export { memberFrame, memberSize } from './member-frame.js';
export { bundleOfFilter, filterKey, objectKey, parseFileName, parseObjectKey } from './object-key.js';
export { readBundle, streamElements, streamRecords } from './read-bundle.js';
export { type FragmentRecords, readFragment, readFragments, readRecord } from './read-fragments.js';
export { buildSkipFilter, mayContain, skipFilterBytes } from './skip-filter.js';
export { SpareBuffers } from './spare-buffers.js';
export {
  type Member,
  memberOfRecord,
  openMember,
  sliceOfMember,
  spliceMember,
  splitSlice,
} from './splice-member.js';
