import type { ClientAnswer } from '@packhouse/node-rpc';

/** A QUANTITY, or a number as some nodes send it; null if it is neither. */
export function asQuantity(value: unknown): number | null {
  const number = typeof value === 'number' ? value : typeof value === 'string' ? fromHex(value) : Number.NaN;
  return Number.isSafeInteger(number) && number >= 0 ? number : null;
}

function fromHex(text: string): number {
  return /^0x[0-9a-f]{1,13}$/i.test(text) ? Number(text) : Number.NaN;
}

/** The number of a block and its hash; null if the answer is not a block. */
export function getHeader(
  answer: ClientAnswer,
): { number: number; hash: string; transactions: number } | null {
  if (answer.kind !== 'result' || typeof answer.value !== 'object' || answer.value === null) return null;
  const { number, hash, transactions } = answer.value as Record<string, unknown>;
  const read = asQuantity(number);
  if (read === null || typeof hash !== 'string') return null;
  return { number: read, hash, transactions: Array.isArray(transactions) ? transactions.length : 0 };
}

/** A field of a result; undefined if there is none. */
export function getField(answer: ClientAnswer, name: string): unknown {
  if (answer.kind !== 'result' || typeof answer.value !== 'object' || answer.value === null) return undefined;
  return (answer.value as Record<string, unknown>)[name];
}
