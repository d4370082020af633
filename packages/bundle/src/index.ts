export { filterFits, filterOfBundle } from './bundle-filter.js';
export { createRangeCheck, type RangeCheck } from './check-range.js';
export { createGrouper, FRAGMENT_BYTES, type Group } from './create-grouper.js';
export {
  createPieceWriter,
  type Deflate,
  deflatePiece,
  joinPieces,
  SpareBuffers,
} from './deflate/deflate-piece.js';
export { createDeflater } from './deflate/deflater.js';
export { readTimes } from './filter/block-times.js';
export { type BundleFilter, filterBytes, readFilter } from './filter/filter-file.js';
export { filterItem, hasFilter } from './filter/filter-items.js';
export { distinctDigests, mayHold, toDigests } from './filter/item-set.js';
export { compileItems } from './filter/match-items.js';
export { findFragments } from './find-fragments.js';
export { chooseCut } from './layout/choose-cut.js';
export {
  decodeFragmentTable,
  encodeFragmentTable,
  type Fragment,
  type FragmentInfo,
  type Piece,
  toFragment,
} from './layout/fragment.js';
export { memberFrame, memberSize } from './layout/member-frame.js';
export {
  bundleOfFilter,
  filterKey,
  type LogName,
  logKey,
  logKeyBefore,
  logPrefix,
  objectKey,
  parseFileName,
  parseLogKey,
  parseObjectKey,
} from './layout/object-key.js';
export { readBundle, streamElements, streamRecords } from './read-bundle.js';
export { type FragmentRecords, readFragment, readFragments, readRecord } from './read-fragments.js';
export {
  type Member,
  memberOfRecord,
  openMember,
  sliceOfMember,
  spliceMember,
  splitSlice,
} from './splice-member.js';
