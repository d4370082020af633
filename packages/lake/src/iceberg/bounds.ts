import type { FieldType } from './fields.js';

/** What is known of a column of a file: bounds as decimal text, or null if it has none. */
export interface ColumnStats {
  min: string | null;
  max: string | null;
  nulls: number;
}

/** Whether manifests have bounds of such a column. Those of hashes and addresses span everything and exclude nothing. */
export function hasBounds(type: FieldType): boolean {
  return type === 'int' || type === 'long' || type === 'timestamp' || type === 'decimal(38, 0)';
}

/** A bound as Iceberg has it in manifests (specification, appendix D, "Binary single-value serialization"). */
export function encodeBound(type: FieldType, value: string): Buffer {
  switch (type) {
    case 'int': {
      const bytes = Buffer.alloc(4);
      bytes.writeInt32LE(Number(value));
      return bytes;
    }
    case 'long':
    case 'timestamp': {
      const bytes = Buffer.alloc(8);
      bytes.writeBigInt64LE(BigInt(value));
      return bytes;
    }
    case 'decimal(38, 0)':
      return encodeUnscaled(BigInt(value));
    default:
      throw new Error(`manifests have no bounds of ${type}`);
  }
}

/** Two's complement, big-endian, in as few bytes as hold it. */
function encodeUnscaled(value: bigint): Buffer {
  let length = 1;
  while (BigInt.asIntN(length * 8, value) !== value) length += 1;
  const hex = BigInt.asUintN(length * 8, value)
    .toString(16)
    .padStart(length * 2, '0');
  return Buffer.from(hex, 'hex');
}
