import { PackhouseError } from '@packhouse/runtime';
import { to } from 'pg-copy-streams';
import type { Connections } from '../connection/connections.js';
import { decodeCopy } from '../connection/copy.js';

/** The bytes of a staged fragment. */
export interface FragmentBytes {
  body: Buffer;
  /** See Piece.items of packages/bundle; null: not known, or not asked for. */
  items: Buffer | null;
}

/**
 * The bytes of fragments, in the order of `startBlocks`; with `crcs` only of fragments with these checksums, since
 * after a reorganisation another one may begin at the same block.
 *
 * COPY takes no parameters; only whole numbers are put into its text. Throws STAGE_CONFLICT if one is gone.
 */
export async function readBodies(
  connections: Connections,
  options: {
    network: string;
    networkId: number;
    kind: number;
    startBlocks: readonly number[];
    crcs?: readonly number[] | undefined;
    withItems?: boolean;
  },
): Promise<FragmentBytes[]> {
  const { networkId, kind, startBlocks, crcs } = options;
  if (startBlocks.length === 0) return [];
  if (![networkId, kind, ...startBlocks, ...(crcs ?? [])].every(Number.isSafeInteger)) {
    throw new RangeError('a block number is not a whole number');
  }
  const text = `COPY (
    SELECT block, body, crc32, ${options.withItems === true ? 'items' : 'NULL'} FROM packhouse.fragment
    WHERE network_id = ${networkId} AND kind = ${kind} AND block IN (${startBlocks.join()})
  ) TO STDOUT (FORMAT binary)`;
  const found = new Map<number, FragmentBytes>();
  const expected = new Map(startBlocks.map((block, i) => [block, crcs?.[i]]));
  await connections.session(async ({ client }) => {
    for await (const [block, body, crc, items] of decodeCopy(client.query(to(text)))) {
      if (block == null || body == null || crc == null) continue;
      const number = Number(block.readBigInt64BE());
      const wanted = expected.get(number);
      if (wanted === undefined || wanted === Number(crc.readBigInt64BE())) {
        found.set(number, { body, items: items ?? null });
      }
    }
  });
  return startBlocks.map((startBlock) => {
    const bytes = found.get(startBlock);
    if (bytes !== undefined) return bytes;
    throw new PackhouseError({
      code: 'STAGE_CONFLICT',
      message: `The staged fragment of ${options.network} that began at block ${startBlock} is gone.`,
      hint: 'It was published or abandoned in the meantime: look again where the block is.',
      data: { network: options.network, number: startBlock, expected: 'a staged fragment', got: 'none' },
    });
  });
}
