import { expect, it } from 'vitest';
import * as door from './index.js';

it('exports what strangers may use, and nothing else', () => {
  expect(Object.keys(door).sort()).toMatchInlineSnapshot(`
    [
      "FRAGMENT_BYTES",
      "MEMBER_HEAD_BYTES",
      "MEMBER_TAIL_BYTES",
      "SEPARATOR_BYTES",
      "chooseCut",
      "crc32Combine",
      "createGrouper",
      "createPieceWriter",
      "decodeFragmentTable",
      "deflatePiece",
      "encodeFragmentTable",
      "fileName",
      "fragmentOf",
      "inflateFragment",
      "joinPieces",
      "memberFrame",
      "memberOfRecord",
      "memberSize",
      "objectKey",
      "parseFileName",
      "parseObjectKey",
      "readBundle",
      "readElements",
      "readFragment",
      "readMember",
      "readRecord",
      "readRecords",
      "sliceOfMember",
      "spliceMember",
      "splitArray",
      "splitSlice",
    ]
  `);
});
