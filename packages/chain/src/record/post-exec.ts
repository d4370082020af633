/** What a transaction of type 0x7d of the OP stack says: gas that transactions of its block get back. */
interface PostExec {
  version: number;
  blockNumber: number;
  refunds: { index: number; gas: number }[];
}

/**
 * Decodes the input of such a transaction, rlp([version, blockNumber, [[index, gasRefund], …]]); null if it is malformed,
 * or not the shortest form.
 */
export function readPostExec(input: string): PostExec | null {
  const bytes = Buffer.from(input.slice(2), 'hex');
  const whole = readItem(bytes, 0);
  if (whole === null || whole.end !== bytes.length || whole.items === null) return null;
  const [version, blockNumber, entries] = whole.items;
  if (whole.items.length !== 3 || entries?.items == null) return null;
  const refunds = entries.items.map(({ items }) => ({
    index: items?.length === 2 ? toNumber(items[0]) : null,
    gas: items?.length === 2 ? toNumber(items[1]) : null,
  }));
  const numbers = [
    toNumber(version),
    toNumber(blockNumber),
    ...refunds.flatMap(({ index, gas }) => [index, gas]),
  ];
  if (numbers.includes(null)) return null;
  return { version: numbers[0]!, blockNumber: numbers[1]!, refunds: refunds as PostExec['refunds'] };
}

/** An item of RLP: a list has `items`, a string `bytes`. */
interface Item {
  bytes: Buffer;
  items: Item[] | null;
  end: number;
}

function readItem(bytes: Buffer, at: number): Item | null {
  const first = bytes[at];
  if (first === undefined) return null;
  if (first < 0x80) return { bytes: bytes.subarray(at, at + 1), items: null, end: at + 1 };
  const isList = first >= 0xc0;
  const short = first - (isList ? 0xc0 : 0x80);
  const size = short > 55 ? short - 55 : 0;
  if (size > 4 || at + 1 + size > bytes.length) return null;
  const length = size === 0 ? short : bytes.readUIntBE(at + 1, size);
  if (size > 0 && (bytes[at + 1] === 0 || length < 56)) return null;
  const start = at + 1 + size;
  const end = start + length;
  if (end > bytes.length) return null;
  const payload = bytes.subarray(start, end);
  if (!isList) return length === 1 && payload[0]! < 0x80 ? null : { bytes: payload, items: null, end };
  const items: Item[] = [];
  for (let next = start; next < end; ) {
    const item = readItem(bytes, next);
    if (item === null || item.end > end) return null;
    items.push(item);
    next = item.end;
  }
  return { bytes: payload, items, end };
}

/** A number below 2^53 without leading zeros; null if the item is none. */
function toNumber(item: Item | undefined): number | null {
  if (item === undefined || item.items !== null || item.bytes[0] === 0 || item.bytes.length > 8) return null;
  const number = Number(`0x${item.bytes.toString('hex') || '0'}`);
  return Number.isSafeInteger(number) ? number : null;
}
