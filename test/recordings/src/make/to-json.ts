import { bytesToHex, type EOACode7702AuthorizationListItem, generateAddress } from '@ethereumjs/util';
import type { Recorded, RecordedLog, RecordedReceipt, RecordedTrace } from '../recordings.js';
import type { MadeBlock, Ran } from './make-block.js';

type Json = Record<string, unknown>;

/** Which of a node's answers are kept. */
export interface Parts {
  receipts: boolean;
  traces: boolean;
  /** Whether the block has its `withdrawals`; without them only their root is left, as old archives have it. */
  withdrawals: boolean;
  /** How reward traces say that they are of no transaction: as null, or by leaving out the fields. */
  rewards?: 'null' | 'absent';
}

const toHex = (value: bigint | number): string => `0x${value.toString(16)}`;

/** The answers of a node for a made block, with the fields and forms of geth; traces as of trace_block. */
export function toRecorded(made: MadeBlock, parts: Parts): Recorded {
  const { block, ran, plan } = made;
  const { withdrawals, ...rest } = toHeader(made);
  const head = { blockHash: bytesToHex(block.hash()), blockNumber: toHex(plan.number) };
  return {
    number: plan.number,
    block: {
      ...rest,
      ...(withdrawals !== undefined && parts.withdrawals ? { withdrawals } : {}),
      transactions: ran.map((one, index) => toTransaction(made, one, index, head)),
    } as Recorded['block'],
    ...(parts.receipts ? { receipts: toReceipts(made, head) } : {}),
    ...(parts.traces ? { traces: toTraces(made, parts) } : {}),
  };
}

function toHeader({ block, totalDifficulty }: MadeBlock): Json & { withdrawals?: Json[] } {
  const { header } = block;
  const hashes = {
    parentBeaconBlockRoot: header.parentBeaconBlockRoot,
    requestsHash: header.requestsHash,
    withdrawalsRoot: header.withdrawalsRoot,
  };
  const numbers = {
    baseFeePerGas: header.baseFeePerGas,
    blobGasUsed: header.blobGasUsed,
    excessBlobGas: header.excessBlobGas,
    totalDifficulty,
  };
  return {
    difficulty: toHex(header.difficulty),
    extraData: bytesToHex(header.extraData),
    gasLimit: toHex(header.gasLimit),
    gasUsed: toHex(header.gasUsed),
    hash: bytesToHex(block.hash()),
    logsBloom: bytesToHex(header.logsBloom),
    miner: header.coinbase.toString(),
    mixHash: bytesToHex(header.mixHash),
    nonce: bytesToHex(header.nonce),
    number: toHex(header.number),
    parentHash: bytesToHex(header.parentHash),
    receiptsRoot: bytesToHex(header.receiptTrie),
    sha3Uncles: bytesToHex(header.uncleHash),
    size: toHex(block.serialize().length),
    stateRoot: bytesToHex(header.stateRoot),
    timestamp: toHex(header.timestamp),
    transactionsRoot: bytesToHex(header.transactionsTrie),
    uncles: block.uncleHeaders.map((uncle) => bytesToHex(uncle.hash())),
    ...map(hashes, bytesToHex),
    ...map(numbers, toHex),
    ...(block.withdrawals === undefined
      ? {}
      : { withdrawals: block.withdrawals.map((each) => ({ ...each.toJSON() })) }),
  };
}

/** The fields that there are, in their form. */
function map<T>(fields: Record<string, T | undefined>, toText: (value: T) => string): Json {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, toText(value)]])),
  );
}

function toTransaction(made: MadeBlock, { tx }: Ran, index: number, head: Json): Json {
  const json = tx.toJSON();
  const v = BigInt(json.v!);
  const own = {
    maxFeePerGas: json.maxFeePerGas,
    maxPriorityFeePerGas: json.maxPriorityFeePerGas,
    maxFeePerBlobGas: json.maxFeePerBlobGas,
    accessList: json.accessList,
    blobVersionedHashes: json.blobVersionedHashes,
    authorizationList: json.authorizationList?.map(toAuthorization),
    chainId: tx.type > 0 ? json.chainId : v >= 35n ? toHex((v - 35n) / 2n) : undefined,
    yParity: tx.type > 0 ? json.v : undefined,
  };
  return {
    ...head,
    from: tx.getSenderAddress().toString(),
    gas: json.gasLimit,
    gasPrice: toHex(toPaidPrice(made, tx)),
    hash: bytesToHex(tx.hash()),
    input: json.data,
    nonce: json.nonce,
    to: json.to ?? null,
    transactionIndex: toHex(index),
    value: json.value,
    type: toHex(tx.type),
    v: json.v,
    r: json.r,
    s: json.s,
    ...Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined)),
  };
}

/** The library writes zero as no bytes, and signatures as 32. */
function toAuthorization(item: EOACode7702AuthorizationListItem): Json {
  const { address, chainId, nonce, yParity, r, s } = item;
  const toQuantity = (value: string): string => (value === '0x' ? '0x0' : toHex(BigInt(value)));
  return {
    chainId: toQuantity(chainId),
    address,
    nonce: toQuantity(nonce),
    yParity: toQuantity(yParity),
    r: toQuantity(r),
    s: toQuantity(s),
  };
}

/** What each gas cost in the end. */
function toPaidPrice({ block }: MadeBlock, tx: Ran['tx']): bigint {
  if (!('maxFeePerGas' in tx)) return tx.gasPrice;
  const wanted = block.header.baseFeePerGas! + tx.maxPriorityFeePerGas;
  if (wanted > tx.maxFeePerGas) return tx.maxFeePerGas;
  return wanted;
}

function toReceipts(made: MadeBlock, head: Json): RecordedReceipt[] {
  let logIndex = 0;
  return made.ran.map(({ tx, result }, index) => {
    const { receipt } = result;
    const place = { transactionHash: bytesToHex(tx.hash()), transactionIndex: toHex(index) };
    const from = tx.getSenderAddress();
    const created = generateAddress(from.bytes, tx.nonce === 0n ? new Uint8Array() : toBytes(tx.nonce));
    return {
      ...head,
      ...place,
      contractAddress: tx.to === undefined ? bytesToHex(created) : null,
      cumulativeGasUsed: toHex(receipt.cumulativeBlockGasUsed),
      effectiveGasPrice: toHex(toPaidPrice(made, tx)),
      from: from.toString(),
      gasUsed: toHex(result.totalGasSpent),
      logs: receipt.logs.map(([address, topics, data]): RecordedLog => {
        logIndex += 1;
        return {
          address: bytesToHex(address),
          topics: topics.map((topic) => bytesToHex(topic)),
          data: bytesToHex(data),
          ...head,
          ...place,
          logIndex: toHex(logIndex - 1),
          removed: false,
        };
      }),
      logsBloom: bytesToHex(receipt.bitvector),
      ...('stateRoot' in receipt
        ? { root: bytesToHex(receipt.stateRoot) }
        : { status: toHex(receipt.status) }),
      to: tx.to?.toString() ?? null,
      type: toHex(tx.type),
      ...('blobGasUsed' in receipt
        ? { blobGasUsed: toHex(receipt.blobGasUsed), blobGasPrice: toHex(receipt.blobGasPrice) }
        : {}),
    };
  });
}

function toBytes(value: bigint): Uint8Array {
  const digits = value.toString(16);
  return new Uint8Array(Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex'));
}

function toTraces({ block, plan, ran, reward }: MadeBlock, { rewards = 'absent' }: Parts): RecordedTrace[] {
  const head = { blockHash: bytesToHex(block.hash()), blockNumber: plan.number };
  const traces = ran.flatMap(({ tx, traces: ofOne }, transactionPosition) =>
    ofOne.map(({ type, action, result, error, subtraces, traceAddress }) => ({
      action,
      ...head,
      ...(error === undefined ? { result: result ?? null } : { error }),
      subtraces,
      traceAddress,
      transactionHash: bytesToHex(tx.hash()),
      transactionPosition,
      type,
    })),
  );
  if (reward === undefined) return traces;
  const last = {
    action: { author: block.header.coinbase.toString(), rewardType: 'block', value: toHex(reward) },
    ...head,
    result: null,
    subtraces: 0,
    traceAddress: [],
    ...(rewards === 'null' ? { transactionHash: null, transactionPosition: null } : {}),
    type: 'reward',
  };
  return [...traces, last];
}
