import { expect, it } from 'vitest';
import * as door from './index.js';

it('exports what strangers may use, and nothing else', () => {
  expect(Object.keys(door).sort()).toMatchInlineSnapshot(`
    [
      "FRAGMENT_BYTES",
      "SpareBuffers",
      "buildSkipFilter",
      "bundleOfFilter",
      "chooseCut",
      "createDeflater",
      "createGrouper",
      "createPieceWriter",
      "createRangeCheck",
      "decodeFragmentTable",
      "deflatePiece",
      "encodeFragmentTable",
      "filterFits",
      "filterItem",
      "filterKey",
      "filterOfBundle",
      "hasFilter",
      "joinPieces",
      "mayContain",
      "memberFrame",
      "memberOfRecord",
      "memberSize",
      "objectKey",
      "openMember",
      "parseFileName",
      "parseObjectKey",
      "readBundle",
      "readFragment",
      "readFragments",
      "readRecord",
      "skipFilterBytes",
      "sliceOfMember",
      "spliceMember",
      "splitSlice",
      "streamElements",
      "streamRecords",
      "toFragment",
    ]
  `);
});
