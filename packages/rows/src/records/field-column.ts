/** How the value of a JSON member becomes that of a column. */
export type Form =
  /** QUANTITY (hex) or number; null beyond 63 bits, or 31 for INTEGER. */
  | 'BIGINT'
  | 'INTEGER'
  /** The same without a sign: null beyond 64 bits, or 32. */
  | 'UBIGINT'
  | 'UINTEGER'
  /** QUANTITY; null beyond 38 digits. */
  | 'DECIMAL(38,0)'
  /** QUANTITY, rounded. */
  | 'DOUBLE'
  /** QUANTITY as decimal text, exact. */
  | 'decimal text'
  /** QUANTITY as 32 bytes. */
  | 'word'
  /** Bytes in hex. */
  | 'hex'
  /** Any other text. */
  | 'TEXT'
  | 'BOOLEAN'
  /** QUANTITY: whether it is 1. */
  | 'flag'
  /** QUANTITY of seconds since 1970. */
  | 'TIMESTAMP'
  /** Any value, as canonical JSON. */
  | 'JSON'
  /** A list as text, with what is between its elements. */
  | 'joined by _'
  | 'joined by ,'
  /** How many bytes hex has, and how many of them are zero or not. */
  | 'byte count'
  | 'zero bytes'
  | 'other bytes'
  /** `delegatecall` as `delegate_call`. */
  | 'cryo call type'
  /** `block` as `reward`. */
  | 'cryo reward type';

/**
 * A column and the member of the record that it has: `field`, `outer.field`, `list[index]` or `list.length`; with `|`
 * between several, the first that is there. `@time` and `@chain` are the time of the block and the id of the chain,
 * `receipt.…` is of the transaction's receipt, `@status` and `@id` are what ethereum-etl derives for a trace.
 */
export interface FieldColumn {
  name: string;
  form: Form;
  field: string;
  required: boolean;
}
