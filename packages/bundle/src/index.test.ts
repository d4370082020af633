import { expect, it } from 'vitest';
import * as door from './index.js';

it('exports what strangers may use, and nothing else', () => {
  expect(Object.keys(door).sort()).toMatchInlineSnapshot(`
    [
      "FRAGMENT_BYTES",
      "chooseCut",
      "createGrouper",
      "createPieceWriter",
      "createRangeCheck",
      "decodeFragmentTable",
      "deflatePiece",
      "encodeFragmentTable",
      "fragmentOf",
      "joinPieces",
      "memberFrame",
      "memberOfRecord",
      "memberSize",
      "objectKey",
      "parseFileName",
      "parseObjectKey",
      "readBundle",
      "readFragment",
      "readFragments",
      "readRecord",
      "sliceOfMember",
      "spliceMember",
      "splitSlice",
      "streamElements",
      "streamRecords",
    ]
  `);
});
