import { createHash } from 'node:crypto';
import type { Geth } from '@packhouse/local';
import type { RecordedBlock } from '@packhouse/replay-node';
import { createWalletClient, type Hex, http, parseAbi, type TransactionReceipt } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

/** Of the account that `geth --dev` gives its coins to, as in cmd/utils/flags.go. */
const DEVELOPER = privateKeyToAccount('0xb71c71a67e1177ad4e901695e1b4b9ee17ae16c6668d313eac2f96dbcda3f291');
const AUTHORITY = privateKeyToAccount(`0x${'42'.repeat(32)}`);
const SOMEBODY: Hex = `0x${'aa'.repeat(20)}`;
const CHAIN = {
  id: 1_337,
  name: 'geth --dev',
  nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: { default: { http: [] } },
} as const;
const GAS = 200_000n;
const FEES = { maxFeePerGas: 10_000_000_000n, maxPriorityFeePerGas: 1n };

/** Without input it emits an event and pays 1 wei to somebody; input 0x01: it reverts; 0x02: it destroys itself. */
const RUNTIME = [
  '361560195760003560f81c80600114604957600214604f5700',
  `5b602a60005260076020 6000a160006000600060006001 73${'aa'.repeat(20)}5af15000`,
  '5b60006000fd',
  '5b33ff',
]
  .join('')
  .replaceAll(' ', '');
const DEPLOY: Hex = `0x60${(RUNTIME.length / 2).toString(16)}80600b6000396000f3${RUNTIME}`;
/** A blob of zeros: its commitment and its proof are the point at infinity. */
const BLOB: Hex = `0x${'00'.repeat(131_072)}`;
const INFINITY: Hex = `0xc0${'00'.repeat(47)}`;
const BLOB_HASH: Hex = `0x01${createHash('sha256')
  .update(Buffer.from(INFINITY.slice(2), 'hex'))
  .digest('hex')
  .slice(2)}`;

/** Makes blocks with transactions of all types, and with withdrawals; returns the receipts by what they are of. */
export async function makeGethBlocks({ url, rpc }: Geth): Promise<Record<string, TransactionReceipt>> {
  const wallet = createWalletClient({ account: DEVELOPER, chain: CHAIN, transport: http(url) });
  const receipts: Record<string, TransactionReceipt> = {};
  const keep = async (name: string, sent: Promise<Hex>): Promise<TransactionReceipt> => {
    const hash = await sent;
    for (;;) {
      const receipt = await rpc<TransactionReceipt | null>('eth_getTransactionReceipt', [hash]).catch(
        () => null,
      );
      if (receipt === null) continue;
      receipts[name] = receipt;
      return receipt;
    }
  };
  const abi = parseAbi(['constructor() payable']);
  const deploy = { abi, bytecode: DEPLOY, value: 100n, gas: GAS * 5n };
  const to = (await keep('creation', wallet.deployContract(deploy))).contractAddress as Hex;
  const legacy = { type: 'legacy', gas: GAS, gasPrice: 10_000_000_000n } as const;
  await keep('type 0', wallet.sendTransaction({ ...legacy, to: SOMEBODY, value: 5n }));
  const accessList = [{ address: to, storageKeys: [`0x${'01'.repeat(32)}`] }] as const;
  await keep('type 1', wallet.sendTransaction({ ...legacy, type: 'eip2930', to, accessList }));
  await keep('type 2', wallet.sendTransaction({ gas: GAS, to }));
  const blobs = {
    ...FEES,
    type: 'eip4844',
    blobVersionedHashes: [BLOB_HASH],
    sidecars: [{ blob: BLOB, commitment: INFINITY, proof: INFINITY }],
    maxFeePerBlobGas: 1_000_000_000n,
  } as const;
  const nonce = Number(await rpc('eth_getTransactionCount', [DEVELOPER.address, 'pending']));
  const signed = await DEVELOPER.signTransaction({ ...blobs, to, gas: GAS, nonce, chainId: CHAIN.id });
  await keep('type 3', rpc<Hex>('eth_sendRawTransaction', [signed]));
  const authorizationList = [await AUTHORITY.signAuthorization({ chainId: CHAIN.id, address: to, nonce: 0 })];
  const delegated = { authorizationList, to: AUTHORITY.address, value: 3n, gas: GAS };
  await keep('type 4', wallet.sendTransaction(delegated));
  await keep('revert', wallet.sendTransaction({ gas: GAS, to, data: '0x01' }));
  await keep('failed creation', wallet.sendTransaction({ gas: GAS, data: '0xfe' }));
  await keep('destroyed at once', wallet.sendTransaction({ gas: GAS, data: '0x33ff', value: 1n }));
  await keep('destruction', wallet.sendTransaction({ gas: GAS, to, data: '0x02' }));
  const withdrawal = { index: '0x0', validatorIndex: '0x7', address: SOMEBODY, amount: '0x9' };
  await rpc('dev_addWithdrawal', [withdrawal]);
  return receipts;
}

/** Makes blocks with transfers of `value`, until the chain has more than `head` of them. */
export async function makeBlocksUpTo({ rpc, send }: Geth, head: number, value: number): Promise<void> {
  while (Number(await rpc('eth_blockNumber', [])) < head)
    await send({ to: SOMEBODY, value: `0x${value.toString(16)}` });
}

/** The chain as geth tells it, with traces of its flatCallTracer in Parity's words. */
export async function readGethChain({ rpc }: Geth, from: number, to: number): Promise<RecordedBlock[]> {
  const blocks: RecordedBlock[] = [];
  const tracer = {
    tracer: 'flatCallTracer',
    tracerConfig: { convertParityErrors: true },
  };
  for (let number = from; number <= to; number++) {
    const hex = `0x${number.toString(16)}`;
    const traced =
      number === 0 ? [] : await rpc<{ result: Trace[] }[]>('debug_traceBlockByNumber', [hex, tracer]);
    blocks.push({
      number,
      block: await rpc('eth_getBlockByNumber', [hex, true]),
      receipts: await rpc('eth_getBlockReceipts', [hex]),
      traces: traced.flatMap(({ result }) => result.map(withResult)),
    } as RecordedBlock);
  }
  return blocks;
}

interface Trace {
  type: string;
  result?: unknown;
}

/** geth leaves out what trace_block says of a destruction. */
function withResult(trace: Trace): Trace {
  return trace.type === 'suicide' && trace.result === undefined ? { ...trace, result: null } : trace;
}
