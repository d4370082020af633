import { fileURLToPath } from 'node:url';
import { createReplayNode, loadAnswers, type ReplayNode } from '@packhouse/replay-node';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { isInstalled, library, UNLESS_INSTALLED } from './library.js';
import { type Gateway, startGateway } from './start-gateway.js';

/** What these tests use of @ckb-ccc/core and of @ckb-lumos/rpc. */
interface CccClient {
  sendTransaction(transaction: object): Promise<string>;
  getTip(): Promise<bigint>;
}
interface Ccc {
  ClientPublicMainnet: new (options: object) => CccClient;
  SignerCkbPrivateKey: new (
    client: CccClient,
    key: string,
  ) => {
    getRecommendedAddressObj(): Promise<{ script: object }>;
    signTransaction(transaction: object): Promise<{ hash(): string; witnesses: string[]; version: bigint }>;
  };
  Transaction: { from(transaction: object): object };
}
interface LumosRpc {
  getConsensus(): Promise<object>;
  getTipBlockNumber(): Promise<string>;
  sendTransaction(transaction: object, validator?: string): Promise<string>;
  createBatchRequest(calls: unknown[][]): { exec(): Promise<unknown[]> };
}

interface LumosBase {
  blockchain: { RawTransaction: { pack(transaction: object): Uint8Array } };
  utils: { ckbHash(bytes: Uint8Array): string; deepCamelizeTransaction(transaction: object): object };
}

const LOCK = {
  codeHash: '0x9bd7e06f3ecf4be0f2fcd2188b23f1b9fcc88e5d4b65a8637b17723bbda3cce8',
  hashType: 'type',
  args: '0x36c329ed630d6ce750712a477543672adab57f4c',
};
const OUT_POINT = {
  txHash: '0x365698b50ca0da75dca2c87f9e7b563811d3b5813736b8cc62cc3b106faceb17',
  index: '0x0',
};
const CELL_DEP = {
  depType: 'depGroup',
  outPoint: { txHash: '0x71a7ba8fc96349fea0ed3a5c47992e3b4084b031a42264a018e0072e8172e46c', index: '0x0' },
};
/** What the recorded node answers to every transaction. */
const SENT = '0xa0ef4eb5f4ceeb08a4c8524d84c5da95dce2f608e0ca2ec8091191b0f330c6e3';

const recording = fileURLToPath(new URL('../../replay-node/recordings/cell.json', import.meta.url));

describe.skipIf(!isInstalled('@ckb-ccc/core'))(`libraries of CKB ${UNLESS_INSTALLED}`, () => {
  let node: ReplayNode;
  let gateway: Gateway;
  const received: (readonly unknown[])[] = [];

  beforeAll(async () => {
    node = await createReplayNode({
      answers: await loadAnswers(recording),
      observe: ({ method, params }) => {
        if (method === 'send_transaction') received.push(params);
      },
    });
    const network = (id: string, rpc: string): string => `
  - id: ${id}
    family: cell
    upstreams: [{url: '${node.url}'}]
    ${rpc}`;
    gateway = await startGateway(
      inject('postgresUrl'),
      `networks:${network('cell', '')}${network('reading', 'rpc: {allow: [get_tip_block_number]}')}\n`,
    );
  });
  afterAll(async () => {
    await gateway?.close();
    await node?.close();
  });

  it('@ckb-ccc/core signs and sends a transaction, and @ckb-lumos/base finds it unaltered', async () => {
    const { ccc } = library<{ ccc: Ccc }>('@ckb-ccc/core');
    const client = new ccc.ClientPublicMainnet({ url: gateway.getUrl('cell'), fallbacks: [] });
    const signer = new ccc.SignerCkbPrivateKey(client, `0x${'11'.repeat(32)}`);
    const { script } = await signer.getRecommendedAddressObj();
    const transaction = ccc.Transaction.from({
      cellDeps: [CELL_DEP],
      inputs: [
        {
          previousOutput: OUT_POINT,
          cellOutput: { capacity: 20_000_000_000n, lock: script },
          outputData: '0x',
        },
      ],
      outputs: [{ capacity: 19_999_990_000n, lock: LOCK }],
      outputsData: ['0x'],
    });
    const signed = await signer.signTransaction(transaction);
    expect(await client.sendTransaction(signed)).toBe(SENT);
    expect(received.at(-1)).toMatchObject([
      { version: '0x0', outputs: [{ capacity: '0x4a817a0f0' }], witnesses: signed.witnesses },
      'well_known_scripts_only',
    ]);
    expect(signed.witnesses).toHaveLength(1);
    const { blockchain, utils } = library<LumosBase>('@ckb-lumos/base');
    const [arrived] = received.at(-1) as [object];
    const raw = blockchain.RawTransaction.pack(utils.deepCamelizeTransaction(arrived));
    expect(utils.ckbHash(raw)).toBe(signed.hash());
  });

  it('@ckb-lumos/rpc sends a transaction, and reads what the network parameters are', async () => {
    const { RPC } = library<{ RPC: new (url: string) => LumosRpc }>('@ckb-lumos/rpc');
    const rpc = new RPC(gateway.getUrl('cell'));
    const transaction = {
      version: '0x0',
      cellDeps: [CELL_DEP],
      headerDeps: [],
      inputs: [{ previousOutput: OUT_POINT, since: '0x0' }],
      outputs: [{ capacity: '0x2540be400', lock: LOCK }],
      outputsData: ['0x'],
      witnesses: ['0x'],
    };
    expect(await rpc.sendTransaction(transaction)).toBe(SENT);
    expect(await rpc.sendTransaction(transaction, 'passthrough')).toBe(SENT);
    expect(received.slice(-2).map(([, validator]) => validator)).toEqual([
      'well_known_scripts_only',
      'passthrough',
    ]);
    expect(await rpc.getConsensus()).toMatchObject({ id: 'ckb', txVersion: '0x0' });
    const batch = rpc.createBatchRequest([['getConsensus'], ['sendTransaction', transaction]]);
    expect(await batch.exec()).toMatchObject([{ id: 'ckb' }, SENT]);
    const wrong = { ...transaction, outputsData: [] };
    await expect(rpc.sendTransaction(wrong)).rejects.toThrow('outputs_data: 0 items for 1 outputs');
  });

  it('are told that other methods are not offered, until the networks file allows them', async () => {
    const { ccc } = library<{ ccc: Ccc }>('@ckb-ccc/core');
    const { RPC } = library<{ RPC: new (url: string) => LumosRpc }>('@ckb-lumos/rpc');
    await expect(new RPC(gateway.getUrl('cell')).getTipBlockNumber()).rejects.toThrow('-32601');
    expect(await new RPC(gateway.getUrl('reading')).getTipBlockNumber()).toBe('0xf4240');
    const client = new ccc.ClientPublicMainnet({ url: gateway.getUrl('reading'), fallbacks: [] });
    expect(await client.getTip()).toBe(1_000_000n);
  });
});
