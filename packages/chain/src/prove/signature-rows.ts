import {
  NO_PARITY,
  SIGNATURE_BYTES,
  SIGNATURE_FROM,
  SIGNATURE_PARITY,
  SIGNATURE_PLACE,
  SIGNATURE_R,
} from '@packhouse/kernels';
import { encodeSigned } from '../encode/encode-transaction.js';
import { type Keccak, toHex } from '../encode/keccak.js';
import type { RecoverKey } from '../encode/recover-key.js';
import type { TransactionRecord } from '../record/transaction.js';
import { legacyChainId } from './check-chain.js';
import type { Tools } from './tools.js';

/**
 * What senders are recovered from, SIGNATURE_BYTES for each transaction that somebody signed, in the form that the
 * scanner writes: they can be sent to another thread as they are.
 */
export type SignatureRows = Uint8Array;

/** A transaction that names another sender than who signed it; null: nobody did. */
export interface FalseSender {
  /** Its index in the block. */
  place: number;
  from: string;
  signer: string | null;
}

/** The transactions whose sender did not sign them. */
export function findFalseSenders(
  { keccak, recoverKey }: { keccak: Keccak; recoverKey: RecoverKey },
  rows: SignatureRows,
): FalseSender[] {
  const found: FalseSender[] = [];
  for (let at = 0; at < rows.length; at += SIGNATURE_BYTES) {
    const row = Buffer.from(rows.buffer, rows.byteOffset + at, SIGNATURE_BYTES);
    const signer = recoverSigner({ keccak, recoverKey }, row);
    const from = row.subarray(SIGNATURE_FROM, SIGNATURE_FROM + 20);
    if (signer?.equals(from)) continue;
    found.push({
      place: row.readUInt32LE(SIGNATURE_PLACE),
      from: toHex(from),
      signer: signer === null ? null : toHex(signer),
    });
  }
  return found;
}

/** The rows of these transactions of a block. Each adds an item to the buffer of `tools`. */
export function toSignatureRows(
  tools: Tools,
  transactions: readonly TransactionRecord[],
  places: readonly number[],
): SignatureRows {
  const rows = Buffer.alloc(places.length * SIGNATURE_BYTES);
  for (const [at, place] of places.entries()) {
    const row = rows.subarray(at * SIGNATURE_BYTES, (at + 1) * SIGNATURE_BYTES);
    writeRow(tools, transactions[place]!, row);
    row.writeUInt32LE(place, SIGNATURE_PLACE);
  }
  return rows;
}

/** So many of the rows, drawn at random so that no node can foresee them; all if they are fewer. */
export function drawRows(
  rows: SignatureRows,
  count: number,
  random: (below: number) => number,
): SignatureRows {
  const places = Array.from({ length: rows.length / SIGNATURE_BYTES }, (_, index) => index);
  if (places.length <= count) return rows;
  const drawn = Array.from({ length: count }, () => places.splice(random(places.length), 1)[0]!);
  return Buffer.concat(drawn.map((at) => rows.subarray(at * SIGNATURE_BYTES, (at + 1) * SIGNATURE_BYTES)));
}

export function countRows(rows: SignatureRows): number {
  return rows.length / SIGNATURE_BYTES;
}

/** Who signed a transaction; null if its signature is invalid. Adds an item to the buffer of `tools`. */
export function getSignerOf(tools: Tools, tx: TransactionRecord): string | null {
  const row = Buffer.alloc(SIGNATURE_BYTES);
  writeRow(tools, tx, row);
  const signer = recoverSigner(tools, row);
  return signer === null ? null : toHex(signer);
}

/** Source: Yellow Paper, appendix F; EIP-155 for `v` of legacy transactions. */
function writeRow({ keccak, rlp }: Tools, tx: TransactionRecord, row: Buffer): void {
  const chainId = tx.kind === 0 ? legacyChainId(tx) : undefined;
  encodeSigned(rlp, tx, chainId);
  row.set(keccak.hash(rlp.item(rlp.count - 1)));
  row.write(tx.r!.slice(2) + tx.s!.slice(2), SIGNATURE_R, 'hex');
  row.write(tx.from.slice(2), SIGNATURE_FROM, 'hex');
  const v = BigInt(tx.v!);
  const parity = tx.kind !== 0 ? v : chainId === undefined ? v - 27n : (v - 35n) & 1n;
  row.writeUInt32LE(parity === 0n || parity === 1n ? Number(parity) : NO_PARITY, SIGNATURE_PARITY);
}

/** The last 20 bytes of keccak(public key); null if the signature is invalid. */
function recoverSigner(
  { keccak, recoverKey }: { keccak: Keccak; recoverKey: RecoverKey },
  row: Buffer,
): Buffer | null {
  const parity = row.readUInt32LE(SIGNATURE_PARITY);
  if (parity !== 0 && parity !== 1) return null;
  const signature = row.subarray(SIGNATURE_R, SIGNATURE_R + 64);
  const key = recoverKey(row.subarray(0, SIGNATURE_R), signature, parity);
  return key === undefined ? null : Buffer.from(keccak.hash(key).subarray(12, 32));
}
