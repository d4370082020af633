import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { PackhouseError } from '@packhouse/runtime';
import type { RecordedBlock } from './recorded-block.js';

/**
 * Reads a recording: gzip-compressed lines of `{"number","block","receipts"?,"traces"?}`.
 *
 * @throws PackhouseError RECORD_INVALID for a line of another form, and the file system's own errors.
 */
export async function loadRecording(path: string): Promise<RecordedBlock[]> {
  const unzipped = createGunzip();
  const lines = createInterface({ input: unzipped, crlfDelay: Number.POSITIVE_INFINITY });
  let failure: unknown;
  pipeline(createReadStream(path), unzipped, (error) => {
    failure = error;
    if (error) lines.close();
  });
  const blocks: RecordedBlock[] = [];
  let lineNumber = 0;
  for await (const line of lines) {
    lineNumber++;
    if (line !== '') blocks.push(parseLine(line, path, lineNumber));
  }
  if (failure) throw failure;
  return blocks;
}

function parseLine(line: string, path: string, lineNumber: number): RecordedBlock {
  let record: RecordedBlock | undefined;
  let cause: unknown;
  try {
    record = JSON.parse(line);
  } catch (error) {
    cause = error;
  }
  if (!Number.isInteger(record?.number) || !Array.isArray(record?.block?.transactions)) {
    throw new PackhouseError({
      code: 'RECORD_INVALID',
      message: `Line ${lineNumber} of ${path} is not a recorded block: expected {"number", "block", "receipts"?, "traces"?} with full transactions.`,
      hint: 'Record the results of eth_getBlockByNumber(n, true), eth_getBlockReceipts and trace_block, one block a line.',
      cause,
    });
  }
  return record as RecordedBlock;
}
