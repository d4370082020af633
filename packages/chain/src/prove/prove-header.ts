import { encodeHeader } from '../encode/encode-block.js';
import { equalsHex, toHex } from '../encode/keccak.js';
import { type BlockRecord, readBlock, unknownHeaderFields } from '../record/block.js';
import { readTransaction } from '../record/transaction.js';
import { FORK_TIMES, UNKNOWN_FORK } from '../rules/ethereum.js';
import type { HeaderField, HeaderPart } from '../rules/rule-set.js';
import { checkChain } from './check-chain.js';
import { type BlockInHand, failProof, type Tools } from './tools.js';

/** A header that hashes to the block's hash. */
interface ProvedHeader {
  /** In RLP. */
  length: number;
  /** Fields that no table names and that the hash needed. */
  unknownFields: readonly string[];
}

/**
 * Proves the block's hash from its header.
 *
 * If it fails, the fields that a header could have and no table names are appended: a fork appends its fields. If the
 * hash is right then, the block is of a fork that is not known here, and what a fork may change is not checked.
 */
export function proveHeader(tools: Tools, block: BlockInHand, answer: unknown): ProvedHeader {
  const { header } = block.rules;
  const expected = block.record.hash;
  const { hash, length } = hashHeader(tools, block.record, header);
  if (equalsHex(hash, expected)) return { length, unknownFields: [] };
  const got = toHex(hash);
  const unknown = unknownHeaderFields(answer, header);
  const forks = FORK_TIMES.get(tools.policy.chainId) ?? [];
  const time = Number(block.record.timestamp);
  const isRenamed = forks.some(([since, field]) => time >= since && block.record[field] == null);
  const known = unknown.flatMap(({ name, form }) => (form === undefined ? [] : { name, form }));
  for (const fields of isRenamed ? [] : arrangements(known)) {
    const longer = [...header, ...fields];
    const record = readBlock(block.reader, answer, { seals: 'required', header: longer });
    const tried = hashHeader(tools, record, longer);
    if (!equalsHex(tried.hash, expected)) continue;
    const unknownFields = fields.map(({ name }) => name);
    const names = unknownFields.join(', ');
    block.record = record;
    block.checks = UNKNOWN_FORK;
    block.notProved.set(
      'consistency',
      `the header has fields of a fork that is not known (${names}), so gas sums, size, prices and addresses of new contracts are not checked`,
    );
    return { length: tried.length, unknownFields };
  }
  checkChains(tools, block);
  return failProof(block, {
    proof: 'headerHash',
    field: 'hash',
    expected,
    got,
    message: `its header hashes to ${got}, but the block is given as ${expected}.`,
    ...(unknown.length === 0 ? {} : { unknownFields: unknown.map(({ name }) => name) }),
  });
}

/** Says rather that the block is of another chain, whose rules make another hash, if its transactions say so. */
function checkChains({ chain }: Tools, block: BlockInHand): void {
  const { reader, record, rules } = block;
  if (chain === undefined) return;
  for (let index = 0; index < record.transactions.length; index++) {
    reader.at('transaction', index);
    const tx = readTransaction(reader, record.transactions[index], record);
    if (tx.other === undefined && rules.outside === 'none') checkChain(block, chain, tx, index);
  }
  reader.at('block', 0);
}

function hashHeader(
  { rlp, keccak }: Tools,
  record: BlockRecord,
  header: readonly HeaderPart[],
): { hash: Uint8Array; length: number } {
  rlp.clear();
  encodeHeader(rlp, record, header);
  const item = rlp.item(0);
  return { hash: keccak.hash(item), length: item.length };
}

/** Most unknown fields of which every choice and order is tried; of more only all, as they come. */
const MAX_ARRANGED = 4;

/** The fields in the order of the node, then every choice of them in every order: some nodes sort by name. */
function* arrangements(fields: readonly HeaderField[]): Generator<readonly HeaderField[]> {
  if (fields.length === 0) return;
  yield fields;
  if (fields.length <= MAX_ARRANGED) yield* choices(fields, []);
}

function* choices(
  fields: readonly HeaderField[],
  chosen: readonly HeaderField[],
): Generator<readonly HeaderField[]> {
  for (const field of fields) {
    if (chosen.includes(field)) continue;
    const next = [...chosen, field];
    yield next;
    yield* choices(fields, next);
  }
}
