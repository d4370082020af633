import type { Anvil } from './anvil.js';

/** The first of Anvil's funded accounts. */
const SENDER = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266';
const IDENTITY = '0000000000000000000000000000000000000004';
const NOBODY = '00000000000000000000000000000000000000aa';

const byte = (value: number): string => value.toString(16).padStart(2, '0');

/** Init code that returns `runtime`: PUSH2 size, DUP1, PUSH1 12, PUSH1 0, CODECOPY, PUSH1 0, RETURN. */
function initCode(runtime: string): string {
  return `0x61${(runtime.length / 2).toString(16).padStart(4, '0')}80600c6000396000f3${runtime}`;
}

/** A call with 200,000 gas, no input and no output, its outcome dropped. */
function call(opcode: 'f1' | 'f2' | 'f4' | 'fa', to: string, value?: number): string {
  return `6000600060006000${value === undefined ? '' : `60${byte(value)}`}73${to}62030d40${opcode}50`;
}

/** CREATE of the one byte of init code given. */
function create(init: number): string {
  return `60${byte(init)}600053600160006000f050`;
}

/** CREATE2 of the one byte of init code given, with a salt. */
function create2(init: number, salt: number): string {
  return `60${byte(init)}60005360${byte(salt)}600160006000f550`;
}

/**
 * Makes blocks that hold every kind of trace: transfers, creations that work and that fail, calls of every sort
 * nested in each other, reverts with and without a reason, a bad instruction, self-destructs, built-in contracts.
 */
export async function makeLivelyChain(anvil: Anvil): Promise<void> {
  const send = (fields: Record<string, unknown>): Promise<string> =>
    anvil.rpc('eth_sendTransaction', [{ from: SENDER, gas: '0x200000', ...fields }]);
  const mine = (): Promise<unknown> => anvil.rpc('evm_mine');
  const deploy = async (runtime: string): Promise<string> => {
    const hash = await send({ data: initCode(runtime) });
    await mine();
    const receipt = await anvil.rpc<{ contractAddress: string }>('eth_getTransactionReceipt', [hash]);
    return receipt.contractAddress.slice(2);
  };
  const stop = await deploy('00');
  const revert = await deploy('60006000fd');
  const revertWithReason = await deploy('602a60005260206000fd');
  const badInstruction = await deploy('fe');
  const selfDestruct = await deploy(`73${SENDER.slice(2)}ff`);
  const inner = await deploy(
    `${call('f1', stop, 0)}${call('f4', revertWithReason)}${call('fa', stop)}602a60005260206000f3`,
  );
  const outer = await deploy(
    [
      call('f1', stop, 1),
      call('f1', inner, 0),
      call('f4', inner),
      call('fa', stop),
      call('f2', stop, 0),
      call('f1', revert, 0),
      call('f1', revertWithReason, 0),
      call('f1', badInstruction, 0),
      call('f1', NOBODY, 1),
      call('f1', IDENTITY, 1),
      create(0x00),
      create(0xfe),
      create2(0x00, 7),
      call('f1', selfDestruct, 3),
      '00',
    ].join(''),
  );
  const builtIn = await deploy(`${call('f1', IDENTITY, 0)}${call('fa', IDENTITY)}${call('f1', stop, 0)}00`);
  await mine();
  for (const fields of [
    { to: `0x${outer}`, value: '0x64', gas: '0x400000' },
    { to: `0x${builtIn}` },
    { to: `0x${selfDestruct}`, value: '0x5' },
    { to: `0x${revert}` },
    { to: `0x${revertWithReason}` },
    { to: `0x${badInstruction}` },
    { to: `0x${IDENTITY}`, data: '0x1234' },
    { to: `0x${NOBODY}`, value: '0x1' },
    { data: '0xfe' },
    { data: '0x60006000fd' },
  ]) {
    await send(fields);
  }
  await mine();
}
