import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { splitArray } from '@packhouse/json';

/**
 * Text that most logs have parts of, so that a single log packs to less than half (mainnet: 640 to 284 characters). It
 * is part of the format: filters that were packed with another text cannot be unpacked.
 */
const COMMON = Buffer.from(
  '{"address":"0x","topics":["0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef",' +
    '"0x000000000000000000000000","0x000000000000000000000000"],"data":"0x0000000000000000000000000000000000000000000000",' +
    '"blockNumber":"0x","blockTimestamp":"0x","transactionHash":"0x","transactionIndex":"0x","blockHash":"0x",' +
    '"logIndex":"0x","removed":false}',
);

/** Packs JSON texts of logs into a short text, byte for byte. */
export function packLogs(logs: readonly string[]): string {
  return deflateRawSync(`[${logs.join(',')}]`, { dictionary: COMMON }).toString('base64');
}

/** The JSON texts that were packed. */
export function unpackLogs(packed: string): string[] {
  return splitArray(inflateRawSync(Buffer.from(packed, 'base64'), { dictionary: COMMON }));
}
