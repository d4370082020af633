import { readFileSync } from 'node:fs';
import { createKeccak256, type Keccak } from '@packhouse/chain';
import {
  address,
  blockParameter,
  type Check,
  checkEach,
  checkParams,
  data,
  describeType,
  hash,
  quantity,
  storagePosition,
} from '../rpc/check-params.js';
import { type RpcMethod, toResult } from '../rpc/method.js';
import { read, stateRead } from './read-method.js';

/** Most blocks of a fee history, and most percentiles (go-ethereum, eth/gasprice/feehistory.go). */
const MAX_HISTORY = 1_024;
const MAX_PERCENTILES = 100;
/** Most storage keys of a proof (go-ethereum, internal/ethapi/api.go). */
const MAX_PROOF_KEYS = 1_024;

const blockCount: Check = (value) => {
  const wrong = quantity(value);
  if (wrong !== null) return wrong;
  return Number(value) > MAX_HISTORY ? `${Number(value)} blocks, at most ${MAX_HISTORY}` : null;
};

const percentiles: Check = (value) => {
  if (!Array.isArray(value)) return `expected an array, got ${describeType(value)}`;
  if (value.length > MAX_PERCENTILES) return `${value.length} percentiles, at most ${MAX_PERCENTILES}`;
  const wrong = value.findIndex((each) => typeof each !== 'number' || each < 0 || each > 100);
  return wrong === -1 ? null : `invalid percentile at index ${wrong}: expected a number from 0 to 100`;
};

const proofKeys: Check = (value) => {
  if (!Array.isArray(value)) return `expected an array, got ${describeType(value)}`;
  if (value.length > MAX_PROOF_KEYS) return `${value.length} storage keys, at most ${MAX_PROOF_KEYS}`;
  return checkEach(value, storagePosition, 'storage key');
};

/** Reads that wallets and libraries ask first; networks with `rpc.profile: strict` do not offer them. */
export function walletMethods(): RpcMethod[] {
  const reads = [
    stateRead('eth_getBalance', [address]),
    stateRead('eth_getCode', [address]),
    stateRead('eth_getTransactionCount', [address]),
    stateRead('eth_getProof', [address, proofKeys], 5),
    read('eth_gasPrice', [], { atTip: true }),
    read('eth_maxPriorityFeePerGas', [], { atTip: true }),
    read('eth_blobBaseFee', [], { atTip: true }),
    read('eth_feeHistory', [blockCount, blockParameter, percentiles], { cost: 2, blockAt: 1, required: 2 }),
    read('eth_syncing', [], { atTip: true }),
    read('eth_getBlockTransactionCountByHash', [hash], { repeats: {} }),
    read('eth_getBlockTransactionCountByNumber', [blockParameter], { blockAt: 0, repeats: {} }),
    read('eth_getUncleCountByBlockHash', [hash], { repeats: {} }),
    read('eth_getUncleCountByBlockNumber', [blockParameter], { blockAt: 0, repeats: {} }),
  ];
  return [...reads, clientVersion(), sha3()].map((method) => ({ ...method, unlessStrict: true }));
}

/** `web3_clientVersion`: this program's, since several nodes answer behind it. */
function clientVersion(): RpcMethod {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  const { version } = JSON.parse(text) as { version: string };
  return {
    name: 'web3_clientVersion',
    cost: 1,
    idempotent: true,
    contracts: 'none',
    async handle(call) {
      checkParams(call.params, []);
      return toResult(`"Packhouse/${version}"`);
    },
  };
}

/** `web3_sha3`: Keccak-256 of the bytes, computed here. */
function sha3(): RpcMethod {
  let keccak: Promise<Keccak> | undefined;
  return {
    name: 'web3_sha3',
    cost: 1,
    idempotent: true,
    contracts: 'none',
    async handle(call) {
      checkParams(call.params, [data]);
      keccak ??= createKeccak256();
      const bytes = Buffer.from((call.params[0] as string).slice(2), 'hex');
      return toResult(`"0x${Buffer.from((await keccak).hash(bytes)).toString('hex')}"`);
    },
  };
}
