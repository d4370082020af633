import { createHash } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import avro from 'avsc';

/** Values of a block: readers hold one at a time. */
const BLOCK_VALUES = 1_000;
/** The fastest: a tenth of the bytes is left. */
const LEVEL = 1;

/** Writes values of one Avro type into an object container file. */
export interface AvroFile {
  /** The whole file. The same values make the same bytes. */
  encode(values: Iterable<unknown>, metadata: Readonly<Record<string, string>>): Buffer;
}

/**
 * Compiles a schema. Its text is written as it is given: Iceberg adds `field-id` and others to it, which readers find columns
 * by. The values are encoded by avsc, those of a union as `{<type>: value}`; the file around them (Avro specification, "Object Container Files") is made here,
 * since that of avsc leaves out what it does not know of a schema.
 */
export function compileAvro(schema: object): AvroFile {
  const text = JSON.stringify(schema);
  const type = avro.Type.forSchema(JSON.parse(text), { wrapUnions: true });
  const header = avro.Type.forSchema({ type: 'map', values: 'bytes' });
  const long = avro.Type.forSchema('long');
  return {
    encode(values, metadata) {
      const entries = Object.entries({ ...metadata, 'avro.schema': text, 'avro.codec': 'deflate' });
      const head = header.toBuffer(
        Object.fromEntries(entries.map(([name, value]) => [name, Buffer.from(value)])),
      );
      // The marker between blocks may be any 16 bytes: those of what is in the head, so that files are the same.
      const marker = createHash('sha256').update(head).digest().subarray(0, 16);
      const pieces: Buffer[] = [Buffer.from('Obj\x01'), head, marker];
      let block: Buffer[] = [];
      const flush = (): void => {
        if (block.length === 0) return;
        const packed = deflateRawSync(Buffer.concat(block), { level: LEVEL });
        pieces.push(long.toBuffer(block.length), long.toBuffer(packed.length), packed, marker);
        block = [];
      };
      for (const value of values) {
        block.push(type.toBuffer(value));
        if (block.length === BLOCK_VALUES) flush();
      }
      flush();
      return Buffer.concat(pieces);
    },
  };
}
