import { createHash } from 'node:crypto';
import {
  type Block,
  createBlock,
  genRequestsRoot,
  genTransactionsTrieRoot,
  genWithdrawalsTrieRoot,
  type HeaderData,
} from '@ethereumjs/block';
import { ConsensusType } from '@ethereumjs/common';
import { MerklePatriciaTrie } from '@ethereumjs/mpt';
import { RLP } from '@ethereumjs/rlp';
import type { TypedTransaction } from '@ethereumjs/tx';
import { createAccount, createAddressFromString, createWithdrawal, hexToBytes } from '@ethereumjs/util';
import { Bloom, encodeReceipt, type RunTxResult, runTx } from '@ethereumjs/vm';
import { keccak_256 } from '@noble/hashes/sha3';
import { toMadeAddress, toMadeBytes, toMadeHash } from './made-values.js';
import type { MadeTrace } from './tracer.js';
import { type Send, sign } from './transactions.js';
import { moveTo, type World } from './world.js';

/** What is decided of a block before it is run. */
export interface BlockPlan {
  number: number;
  timestamp: number;
  gasLimit: number;
  sends: readonly Send[];
  /** Of the first block of a world; later ones follow from their parent. */
  baseFee?: bigint;
  excessBlobGas?: bigint;
  difficulty?: bigint;
  /** The sum up to this block, if the node tells it; of later blocks of a world it follows. */
  totalDifficulty?: bigint;
  /** How many uncles it has. */
  uncles?: number;
  /** How many withdrawals it has, from Shanghai on. */
  withdrawals?: number;
}

/** A transaction with what came of it. */
export interface Ran {
  tx: TypedTransaction;
  result: RunTxResult;
  traces: MadeTrace[];
}

export interface MadeBlock {
  plan: BlockPlan;
  block: Block;
  ran: Ran[];
  totalDifficulty?: bigint;
  /** What its miner was given for it; undefined since the merge. */
  reward?: bigint;
}

/** Runs a block's transactions and seals it: with hashes and roots by libraries that the product does not use. */
export async function makeBlock(world: World, plan: BlockPlan, parent?: MadeBlock): Promise<MadeBlock> {
  moveTo(world, plan);
  const open = toOpenHeader(world, plan, parent);
  const ran = await runAll(world, plan, open);
  const reward = await finish(world, plan, open);
  const uncleHeaders = Array.from(
    { length: plan.uncles ?? 0 },
    (_, at) => seal(world, { header: toUncle(open, plan, at) }).header,
  );
  const withdrawals = toWithdrawals(world, plan);
  const block = seal(world, {
    header: {
      ...open,
      uncleHash: keccak_256(RLP.encode(uncleHeaders.map((uncle) => uncle.raw()))),
      ...(await toRoots(world, ran)),
      gasUsed: ran.at(-1)?.result.receipt.cumulativeBlockGasUsed ?? 0n,
      ...(withdrawals === undefined ? {} : { withdrawalsRoot: await genWithdrawalsTrieRoot(withdrawals) }),
      ...(world.common.isActivatedEIP(4844)
        ? { blobGasUsed: ran.reduce((sum, { result }) => sum + (result.blobGasUsed ?? 0n), 0n) }
        : {}),
    },
    transactions: ran.map(({ tx }) => tx),
    uncleHeaders,
    ...(withdrawals === undefined ? {} : { withdrawals }),
  });
  const total =
    parent?.totalDifficulty === undefined
      ? plan.totalDifficulty
      : parent.totalDifficulty + block.header.difficulty;
  return {
    plan,
    block,
    ran,
    ...(total === undefined ? {} : { totalDifficulty: total }),
    ...(reward === undefined ? {} : { reward }),
  };
}

function seal({ common }: World, data: Parameters<typeof createBlock>[0]): Block {
  // nobody mined these blocks, and the parents of most of them are not made
  return createBlock(data, { common, skipConsensusFormatValidation: true, freeze: false });
}

/** The header without what follows from running the block. */
function toOpenHeader({ common }: World, plan: BlockPlan, parent: MadeBlock | undefined): HeaderData {
  const { number, timestamp, gasLimit } = plan;
  const isWork = common.consensusType() === ConsensusType.ProofOfWork;
  const before = parent?.block.header;
  return {
    number,
    timestamp,
    gasLimit,
    parentHash: before?.hash() ?? toMadeHash(`parent of ${number}`),
    coinbase: toMadeAddress(`miner ${number % 5}`),
    extraData: new TextEncoder().encode('made for tests'),
    mixHash: toMadeHash(`mix of ${number}`),
    nonce: isWork ? new Uint8Array(toMadeBytes(`nonce of ${number}`).subarray(0, 8)) : new Uint8Array(8),
    difficulty: isWork ? (plan.difficulty ?? 0n) : 0n,
    ...(common.isActivatedEIP(1559)
      ? { baseFeePerGas: before?.calcNextBaseFee() ?? plan.baseFee ?? 10n ** 10n }
      : {}),
    ...(common.isActivatedEIP(4844)
      ? {
          excessBlobGas: before?.calcNextExcessBlobGas(common) ?? plan.excessBlobGas ?? 0n,
          parentBeaconBlockRoot: toMadeHash(`beacon root of ${number}`),
        }
      : {}),
    ...(common.isActivatedEIP(7685)
      ? {
          requestsHash: genRequestsRoot(
            [],
            (bytes) => new Uint8Array(createHash('sha256').update(bytes).digest()),
          ),
        }
      : {}),
  };
}

async function runAll(world: World, plan: BlockPlan, open: HeaderData): Promise<Ran[]> {
  const { common, vm, senders, tracer } = world;
  const block = seal(world, { header: open });
  const prices = {
    ...(block.header.baseFeePerGas === undefined ? {} : { baseFee: block.header.baseFeePerGas }),
    ...(common.isActivatedEIP(4844) ? { blobPrice: block.header.getBlobGasPrice() } : {}),
  };
  const ran: Ran[] = [];
  let blockGasUsed = 0n;
  for (const [at, send] of plan.sends.entries()) {
    const tx = sign(send, senders[at % senders.length]!, common, prices);
    const result = await runTx(vm, { tx, block, blockGasUsed });
    blockGasUsed = result.receipt.cumulativeBlockGasUsed;
    ran.push({ tx, result, traces: tracer.take() });
  }
  if (blockGasUsed > BigInt(plan.gasLimit)) {
    throw new Error(`block ${plan.number} uses ${blockGasUsed} gas of ${plan.gasLimit}`);
  }
  return ran;
}

/** Pays the miner; returns what was paid. */
async function finish(
  world: World,
  { uncles = 0 }: BlockPlan,
  open: HeaderData,
): Promise<bigint | undefined> {
  const { common, vm } = world;
  if (common.consensusType() !== ConsensusType.ProofOfWork) return undefined;
  const base = common.param('minerReward');
  const reward = base + (base / 32n) * BigInt(uncles);
  const miner = createAddressFromString(String(open.coinbase));
  const account = (await vm.stateManager.getAccount(miner)) ?? createAccount({});
  account.balance += reward;
  await vm.stateManager.putAccount(miner, account);
  return reward;
}

async function toRoots({ common, vm }: World, ran: readonly Ran[]): Promise<HeaderData> {
  const receipts = new MerklePatriciaTrie({ common });
  const bloom = new Bloom(undefined, common);
  for (const [at, { tx, result }] of ran.entries()) {
    await receipts.put(RLP.encode(at), encodeReceipt(result.receipt, tx.type));
    bloom.or(result.bloom);
  }
  return {
    stateRoot: await vm.stateManager.getStateRoot(),
    transactionsTrie: await genTransactionsTrieRoot(
      ran.map(({ tx }) => tx),
      new MerklePatriciaTrie({ common }),
    ),
    receiptTrie: receipts.root(),
    logsBloom: bloom.bitvector,
  };
}

/** The header of an uncle: an empty block beside the parent. */
function toUncle(open: HeaderData, { number }: BlockPlan, at: number): HeaderData {
  return {
    ...open,
    number: number - 1,
    parentHash: toMadeHash(`parent of ${number - 1}`),
    coinbase: toMadeAddress(`uncle ${at}`),
    stateRoot: hexToBytes(toMadeHash(`state of uncle ${at}`)),
  };
}

function toWithdrawals({ common }: World, { number, withdrawals = 16 }: BlockPlan) {
  if (!common.isActivatedEIP(4895)) return undefined;
  return Array.from({ length: withdrawals }, (_, at) =>
    createWithdrawal({
      index: (number - 17_034_870) * 16 + at,
      validatorIndex: toMadeBytes(`validator ${number} ${at}`).readUInt32BE(0) % 600_000,
      address: toMadeAddress(`withdrawal ${at % 5}`),
      amount: 1_000_000 + (toMadeBytes(`amount ${number} ${at}`).readUInt32BE(0) % 20_000_000),
    }),
  );
}
