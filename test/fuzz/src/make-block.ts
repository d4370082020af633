import type { Keccak } from '@packhouse/chain';
import type { Answer, Json } from './encode.js';
import { type MadeTree, makeReward, makeTree } from './make-traces.js';
import { createdAddress, makeTransaction, type Setting } from './make-transaction.js';
import type { Random } from './random.js';
import { fillBlooms, seal } from './seal-block.js';

/** What the blocks of a time look like. */
interface Era {
  name: string;
  chainId: number;
  types: readonly number[];
  protects: boolean;
  /** Receipts have the state root in the place of the status (before EIP-658). */
  roots: boolean;
  /** Names of the header's fields beyond those of the first block. */
  header: readonly string[];
  /** Unix time since when blocks are made; those of blobs must be in their fork. */
  since: number;
  /** How slowly the price of blobs grows (EIP-4844); 0n: it has none. */
  updateFraction: bigint;
  proofOfWork: boolean;
}

const LONDON = ['baseFeePerGas'];
const SHANGHAI = [...LONDON, 'withdrawalsRoot'];
const CANCUN = [...SHANGHAI, 'blobGasUsed', 'excessBlobGas', 'parentBeaconBlockRoot'];
const PRAGUE = [...CANCUN, 'requestsHash'];
const AMSTERDAM = [...PRAGUE, 'blockAccessListHash', 'slotNumber'];

const ethereum = (name: string, types: readonly number[], header: readonly string[], more = {}): Era => ({
  name,
  chainId: 1,
  types,
  header,
  protects: true,
  roots: false,
  since: 1_500_000_000,
  updateFraction: 0n,
  proofOfWork: false,
  ...more,
});

/** All eras that blocks are made of. */
export const ERAS: readonly Era[] = [
  ethereum('frontier', [0], [], { protects: false, roots: true, proofOfWork: true }),
  ethereum('byzantium', [0], [], { proofOfWork: true }),
  ethereum('berlin', [0, 1], [], { proofOfWork: true }),
  ethereum('london', [0, 1, 2, 2], LONDON, { proofOfWork: true }),
  ethereum('paris', [0, 2, 2], LONDON),
  ethereum('shanghai', [0, 1, 2, 2], SHANGHAI),
  ethereum('cancun', [0, 2, 2, 3], CANCUN, { since: 1_710_338_135, updateFraction: 3_338_477n }),
  ethereum('prague', [0, 1, 2, 2, 3, 4], PRAGUE, { since: 1_746_612_311, updateFraction: 5_007_716n }),
  ethereum('amsterdam', [0, 1, 2, 2, 3, 4], AMSTERDAM, { since: 1_767_747_671, updateFraction: 11_684_671n }),
  { ...ethereum('bnb', [0, 1, 2, 2], CANCUN), chainId: 56 },
  { ...ethereum('arbitrum', [0, 1, 2, 2], LONDON), chainId: 42_170 },
  { ...ethereum('polygon', [0, 1, 2, 2], LONDON), chainId: 137 },
  { ...ethereum('hyperevm', [0, 1, 2, 2], CANCUN), chainId: 999 },
  { ...ethereum('optimism', [0, 2, 0x7e], PRAGUE), chainId: 10 },
];

const NO_UNCLES = '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347';

/** A block that a chain could have, whole and sealed; of so many transactions, or of a few. */
export function makeBlock(
  random: Random,
  era: Era,
  signs: boolean,
  keccak: Keccak,
  count = random.pick([0, 1, 1, 1, 2, 2, 3]),
): Answer {
  const { header, proofOfWork } = era;
  const has = (name: string) => header.includes(name);
  const hasUncles = proofOfWork && random.oneIn(4);
  const block: Answer['block'] = {
    number: `0x${(1_000_000 + random.int(30_000_000)).toString(16)}`,
    hash: '',
    parentHash: random.data(32),
    nonce: proofOfWork ? random.data(8) : '0x0000000000000000',
    sha3Uncles: hasUncles ? random.data(32) : NO_UNCLES,
    logsBloom: '',
    transactionsRoot: '',
    stateRoot: random.data(32),
    receiptsRoot: '',
    miner: random.data(20),
    mixHash: random.data(32),
    difficulty: proofOfWork ? random.quantity(52) : '0x0',
    ...(random.oneIn(3) ? {} : { totalDifficulty: random.quantity(76) }),
    extraData: random.data(random.int(33)),
    size: '0x0',
    gasLimit: '0x1c9c380',
    gasUsed: '0x0',
    timestamp: `0x${(era.since + random.int(18_000_000)).toString(16)}`,
    transactions: [],
    uncles: hasUncles ? Array.from({ length: 1 + random.int(2) }, () => random.data(32)) : [],
    ...(has('baseFeePerGas') ? { baseFeePerGas: random.quantity(40) } : {}),
    ...(has('blobGasUsed') ? { blobGasUsed: random.quantity(20), excessBlobGas: random.quantity(26) } : {}),
    ...(has('parentBeaconBlockRoot') ? { parentBeaconBlockRoot: random.data(32) } : {}),
    ...(has('requestsHash') ? { requestsHash: random.data(32) } : {}),
    ...(has('slotNumber') ? { blockAccessListHash: random.data(32), slotNumber: random.quantity(28) } : {}),
    ...(has('withdrawalsRoot') ? { withdrawals: toWithdrawals(random, era), withdrawalsRoot: '' } : {}),
  };
  const setting: Setting = {
    chainId: era.chainId,
    types: era.types,
    protects: era.protects,
    signs,
    baseFee: block.baseFeePerGas === undefined ? undefined : BigInt(String(block.baseFeePerGas)),
  };
  block.transactions = Array.from({ length: count }, () => makeTransaction(random, setting, keccak));
  if (era.chainId === 10 && count > 0)
    block.transactions[0] = makeTransaction(random, { ...setting, types: [0x7e] }, keccak);
  const answer: Answer = { block, receipts: [], traces: [] };
  const stamps = random.oneIn(4);
  for (const tx of block.transactions) addTransaction(random, era, answer, tx, stamps, keccak);
  if (era.chainId === 10 && has('blobGasUsed') && random.oneIn(2)) addFootprints(random, answer);
  const gas = Number(answer.receipts.at(-1)?.cumulativeGasUsed ?? 0);
  // since Amsterdam it is not that of the receipts (EIP-7778, EIP-8037)
  block.gasUsed = `0x${(has('slotNumber') ? Math.ceil(gas * 0.75) : gas).toString(16)}`;
  if (proofOfWork && random.oneIn(2)) answer.traces.push(makeReward(random));
  fillBlooms(answer, keccak);
  seal(answer, keccak);
  return answer;
}

function toWithdrawals(random: Random, { chainId }: Era): Json[] {
  if (chainId !== 1) return [];
  return Array.from({ length: random.pick([0, 1, 2, 5]) }, (_, index) => ({
    index: `0x${(1_000 + index).toString(16)}`,
    validatorIndex: random.quantity(24),
    address: random.data(20),
    amount: random.quantity(40),
  }));
}

/** Adds what a transaction did: its price, receipt, logs and traces. */
function addTransaction(
  random: Random,
  era: Era,
  answer: Answer,
  tx: Json,
  stamps: boolean,
  keccak: Keccak,
): void {
  const { block, receipts, traces } = answer;
  const isDeposit = tx.type === '0x7e';
  if (block.baseFeePerGas !== undefined && Number(tx.type) >= 2 && !isDeposit)
    tx.gasPrice = getPrice(tx, block);
  const failed = random.oneIn(4);
  const isCreation = tx.to === null;
  const depositNonce = random.quantity(20);
  const address = createdAddress(tx.from, isDeposit ? depositNonce : tx.nonce, keccak);
  const leavesOut = failed && (era.roots || random.oneIn(2));
  const created = isCreation && !leavesOut ? address : null;
  const tree = makeTree(random, { tx, failed, created: isCreation ? address : null });
  traces.push(...tree.traces);
  const free = block.blockAccessListHash !== undefined && random.oneIn(2) ? SYSTEM : COIN;
  const used = 21_000 + random.int(500_000);
  const before = receipts.at(-1)?.cumulativeGasUsed ?? '0x0';
  const version = random.oneIn(2) ? { depositReceiptVersion: '0x1' } : {};
  if (isDeposit) repeatReceipt(random, tx, { depositNonce, ...version });
  receipts.push({
    from: tx.from,
    to: tx.to,
    cumulativeGasUsed: `0x${(Number(before) + used).toString(16)}`,
    gasUsed: `0x${used.toString(16)}`,
    effectiveGasPrice: isDeposit ? '0x0' : tx.gasPrice,
    contractAddress: created,
    logs: failed ? [] : toLogs(random, tree, free, stamps ? block.timestamp : undefined),
    logsBloom: '',
    type: tx.type,
    ...(era.roots ? { root: random.data(32) } : { status: failed ? '0x0' : '0x1' }),
    ...(tx.type === '0x3' ? getBlobGas(tx, block, era) : {}),
    ...(isDeposit ? { depositNonce, ...version } : {}),
    ...(era.chainId === 10 && !isDeposit ? { l1Fee: random.quantity(50), l1FeeScalar: '0.684' } : {}),
  });
  if (stamps) tx.blockTimestamp = block.timestamp;
}

/** What nodes say of a deposit's receipt in its transaction; some do not look it up. */
function repeatReceipt(random: Random, tx: Json, { depositNonce, depositReceiptVersion }: Json): void {
  tx.nonce = random.pick(['0x0', depositNonce]);
  delete tx.depositReceiptVersion;
  if (depositReceiptVersion !== undefined && random.oneIn(2)) Object.assign(tx, { depositReceiptVersion });
}

/** Since Jovian: the header's `blobGasUsed` is the sum of those of the receipts, without deposits. */
function addFootprints(random: Random, { block, receipts }: Answer): void {
  let sum = 0;
  for (const receipt of receipts) {
    const share = 400 * (100 + random.int(1_000));
    if (receipt.type !== '0x7e') sum += share;
    else if (random.oneIn(2)) continue;
    Object.assign(receipt, { daFootprintGasScalar: '0x190', blobGasUsed: `0x${share.toString(16)}` });
  }
  block.blobGasUsed = `0x${sum.toString(16)}`;
}

function getBlobGas({ blobVersionedHashes }: Json, { excessBlobGas }: Json, { updateFraction }: Era): Json {
  const used = 131_072 * (blobVersionedHashes as string[]).length;
  const price = exponential(BigInt(String(excessBlobGas)), updateFraction);
  return { blobGasPrice: `0x${price.toString(16)}`, blobGasUsed: `0x${used.toString(16)}` };
}

/** `fake_exponential` of EIP-4844 with a factor of 1, as it is written there. */
function exponential(numerator: bigint, denominator: bigint): bigint {
  let i = 1n;
  let output = 0n;
  let accumulated = denominator;
  while (accumulated > 0n) {
    output += accumulated;
    accumulated = (accumulated * numerator) / (denominator * i);
    i += 1n;
  }
  return output / denominator;
}

/** The lesser of the maximum, and of the base fee with its tip (EIP-1559). */
function getPrice({ maxFeePerGas, maxPriorityFeePerGas }: Json, { baseFeePerGas }: Json): string {
  const max = BigInt(String(maxFeePerGas));
  const tipped = BigInt(String(baseFeePerGas)) + BigInt(String(maxPriorityFeePerGas));
  return `0x${(tipped < max ? tipped : max).toString(16)}`;
}

/** Polygon's coin, and the name of transfers since Amsterdam: no call makes their logs. */
const COIN = `0x${'0'.repeat(36)}1010`;
const SYSTEM = `0x${'f'.repeat(39)}e`;

function toLogs(
  random: Random,
  { contexts }: MadeTree,
  free: string,
  timestamp: unknown,
): Answer['receipts'][number]['logs'] {
  return Array.from({ length: random.pick([0, 0, 1, 1, 2, 3]) }, () => ({
    removed: false,
    address: random.oneIn(10) ? free : random.pick(contexts),
    data: random.data(random.oneIn(200) ? 100_000 : random.int(71)),
    topics: Array.from({ length: random.int(5) }, () => random.data(32)),
    ...(timestamp === undefined ? {} : { blockTimestamp: timestamp }),
  }));
}
