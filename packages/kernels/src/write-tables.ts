import * as L from './layout.js';

/** A kind of objects. */
export interface ObjectTable {
  /** Fields in the order of their numbers. */
  names: readonly string[];
  /** Those that the format names, in its order. */
  spec: readonly string[];
  /** Fields by name: their form, with `?` if null is a value. */
  forms: Readonly<Record<string, string>>;
}

/** An order in which the fields of an object are written. */
export interface Order {
  /** Of an object, by its number. */
  object: number;
  names: readonly string[];
  required: readonly string[];
}

/** Forms of values, in the numbers of kernel/scan/fields.ts. */
export const FORMS = [
  'quantity',
  'data',
  'bytes20',
  'bytes32',
  'bytes256',
  'word',
  'integer',
  'boolean',
  'text',
  'hashes',
  'topics',
  'integers',
  'logs',
  'accessList',
  'authorizations',
  'action',
  'result',
];
/** A copy takes 32 bytes, however short the text is. */
const LITERAL_BYTES = 32;

/** The bytes of all tables, to be written at TABLES_AT. */
export function writeTables(objects: readonly ObjectTable[], orders: readonly (Order | undefined)[]): Buffer {
  const bytes = Buffer.alloc(L.TABLES_END - L.TABLES_AT);
  for (const [object, { names, forms }] of objects.entries()) {
    if (names.length > L.MAX_FIELDS) throw new Error(`object ${object} has ${names.length} fields`);
    for (const [field, name] of names.entries()) writePlace(bytes, object, name, field, toForm(forms[name]!));
  }
  const ordersAt = L.OBJECT_KINDS * L.PLACES * L.PLACE_BYTES;
  let literal = ordersAt + orders.length * L.ORDER_BYTES;
  for (const [number, order] of orders.entries()) {
    if (order === undefined) continue;
    const at = ordersAt + number * L.ORDER_BYTES;
    const { names: known } = objects[order.object]!;
    const bit = (name: string): bigint => 1n << BigInt(known.indexOf(name));
    const mask = (names: readonly string[]): bigint => names.reduce((sum, name) => sum | bit(name), 0n);
    bytes.writeBigUInt64LE(mask(order.required), at);
    bytes.writeBigUInt64LE(mask(order.names), at + L.ORDER_ALLOWED);
    bytes.writeUInt32LE(order.names.length, at + L.ORDER_COUNT);
    for (const [step, name] of order.names.entries()) {
      const text = getLiteral(name);
      const place = at + L.ORDER_HEAD + step * L.STEP_BYTES;
      bytes.writeUInt32LE(known.indexOf(name), place);
      bytes.writeUInt32LE(L.TABLES_AT + literal, place + L.STEP_LITERAL);
      bytes.writeUInt32LE(text.length, place + L.STEP_LENGTH);
      literal += bytes.write(text.padEnd(LITERAL_BYTES, '\0'), literal, 'latin1');
    }
  }
  return bytes;
}

function toForm(name: string): number {
  const form = FORMS.indexOf(name.replace('?', ''));
  return name.endsWith('?') ? form | L.OR_NULL : form;
}

/** The logs of a receipt are written without their brackets, which are those of another text. */
function getLiteral(name: string): string {
  if (name === 'logs') return ',"logs":[';
  return name === 'logsBloom' ? '],"logsBloom":' : `,"${name}":`;
}

function writePlace(bytes: Buffer, object: number, name: string, field: number, form: number): void {
  let place = getHash(name);
  const at = (): number => (object * L.PLACES + place) * L.PLACE_BYTES;
  while (bytes.readUInt32LE(at()) !== 0) place++;
  // The last place stays empty, so that every search ends.
  if (place >= L.PLACES - 1 || name.length > L.MAX_NAME_LENGTH)
    throw new Error(`no place for the field ${name}`);
  bytes.writeUInt32LE(name.length, at());
  bytes.writeUInt32LE(field, at() + L.PLACE_FIELD);
  bytes.writeUInt32LE(form, at() + L.PLACE_FORM);
  bytes.write(name, at() + L.PLACE_NAME, 'latin1');
}

/** As placeOf of kernel/scan/fields.ts. */
function getHash(name: string): number {
  let first = 0n;
  for (let at = Math.min(8, name.length) - 1; at >= 0; at--)
    first = (first << 8n) | BigInt(name.charCodeAt(at));
  return Number(
    (BigInt.asUintN(64, (first ^ BigInt(name.length)) * 0xc2b2ae3d27d4fn) >> 48n) & BigInt(L.PLACES - 1),
  );
}
