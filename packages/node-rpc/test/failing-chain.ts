import type { Rpc } from './traced-chain.js';

const byte = (value: number): string => value.toString(16).padStart(2, '0');
const builtIn = (last: string): string => last.padStart(40, '0');
const IDENTITY = builtIn('04');
const BN256_ADD = builtIn('06');
const BLAKE2F = builtIn('09');
const NOBODY = builtIn('aa');
const REVERT_WITH_REASON = '602a60005260206000fd';
/** Fills the first word of the memory with ones. */
const ONES = `7f${'ff'.repeat(32)}600052`;

/** A call with this gas and so many bytes of input; its outcome is dropped. */
function call(
  op: 'f1' | 'f2' | 'f4' | 'fa',
  to: string,
  options: { value?: number; gas?: number; input?: number } = {},
) {
  const { value = 0, gas = 100_000, input = 0 } = options;
  const moved = op === 'f1' || op === 'f2' ? `60${byte(value)}` : '';
  return `6000600060${byte(input)}6000${moved}73${to}62${gas.toString(16).padStart(6, '0')}${op}50`;
}

/** CREATE of at most 32 bytes of init code; its outcome is dropped. */
function create(init: string, value = 0): string {
  const length = init.length / 2;
  return `${byte(0x5f + length)}${init}60005260${byte(length)}60${byte(32 - length)}60${byte(value)}f050`;
}

/** Init code that returns `runtime`. */
function initCode(runtime: string): string {
  return `0x61${(runtime.length / 2).toString(16).padStart(4, '0')}80600c6000396000f3${runtime}`;
}

/** Contracts that fail by themselves, each in its way. */
const FAILURES = {
  revert: '60006000fd',
  revertWithReason: REVERT_WITH_REASON,
  designatedInvalid: 'fe',
  undefinedInstruction: '0c',
  endlessLoop: '5b600056',
  hugeMemory: '600163ffffffff52',
  hugerMemory: `60017f${'ff'.repeat(32)}52`,
  badJump: '600556',
  emptyStack: '01',
  fullStack: '5b60006000600056',
  returnDataBounds: '6001600060003e',
  noBalance: call('f1', NOBODY, { value: 200 }),
  noBalanceToCreate: create('00', 200),
};

/** What is forbidden in a static call. */
const WRITES = {
  store: '6001600055',
  transientStore: '600160005d',
  log: '60006000a0',
  create: create('00'),
  selfDestruct: '33ff',
  transfer: call('f1', NOBODY, { value: 1 }),
};

/** Contracts whose creations fail or do something. */
const CREATIONS = {
  badInit: create('fe'),
  reverted: create(REVERT_WITH_REASON),
  emptyRevert: create('60006000fd'),
  reservedByte: create('60ef60005360016000f3'),
  expensiveCode: create('6160006000f3'),
  largeCode: create('6160016000f3'),
  largeInit: '6201000060006000f050',
  twice: '6007600060006000f5506007600060006000f550',
  destroyedAtOnce: create('33ff', 1),
};

/**
 * Makes a chain with a block for each transaction: calls and creations that fail in all ways, at the root and inside, and
 * calls of built-in contracts that work and fail, with value and without.
 */
export async function makeFailingChain(rpc: Rpc): Promise<void> {
  const [from] = await rpc<string[]>('eth_accounts', []);
  const send = async (fields: Record<string, unknown>): Promise<string | null> => {
    const hash = await rpc('eth_sendTransaction', [{ from, gas: '0x100000', ...fields }]);
    for (;;) {
      const asked = rpc<{ contractAddress: string | null } | null>('eth_getTransactionReceipt', [hash]);
      const receipt = await asked.catch((error: Error) => {
        // geth says so for a moment after its start.
        if (error.message.includes('indexing is in progress')) return null;
        throw error;
      });
      if (receipt !== null) return receipt.contractAddress;
    }
  };
  const deploy = async (runtime: string): Promise<string> => {
    const address = await send({ data: initCode(runtime) });
    return (address as string).slice(2);
  };
  const deployAll = async (contracts: Readonly<Record<string, string>>): Promise<string[]> => {
    const addresses: string[] = [];
    for (const runtime of Object.values(contracts)) addresses.push(await deploy(runtime));
    return addresses;
  };
  // An account that is there costs less to call.
  await send({ to: `0x${NOBODY}`, value: '0x1' });
  const stop = await deploy('00');
  const failures = await deployAll(FAILURES);
  const writes = await deployAll(WRITES);
  const creations = await deployAll(CREATIONS);
  const destroyed = await deploy('33ff');
  const store = writes[0] as string;
  const builtIns = [
    ...(['f1', 'f2'] as const).flatMap((op) => [
      call(op, IDENTITY),
      call(op, stop),
      call(op, IDENTITY, { value: 1 }),
    ]),
    ...(['f4', 'fa'] as const).flatMap((op) => [call(op, IDENTITY), call(op, stop)]),
    ONES,
    ...[BN256_ADD, BLAKE2F].flatMap((to) => [
      call('f1', to, { input: 0x80 }),
      call('f1', to, { input: 0x80, value: 1 }),
      call('f4', to, { input: 0x80 }),
    ]),
    call('f1', IDENTITY, { value: 1, gas: 0 }),
    call('f1', BN256_ADD, { gas: 10 }),
    call('fa', stop),
  ].join('');
  const outer = [
    await deploy(failures.map((to) => call('f1', to)).join('')),
    await deploy(writes.map((to) => call('fa', to)).join('') + call('f1', store, { gas: 2_000 })),
    await deploy(creations.map((to) => call('f1', to, { value: 2, gas: 300_000 })).join('')),
    await deploy(builtIns),
  ];
  // One call deeper, and what comes behind it.
  outer.push(
    await deploy(
      outer.map((to) => call('f1', to, { value: 20, gas: 3_000_000 })).join('') + call('f4', stop),
    ),
  );
  for (const to of outer) await send({ to: `0x${to}`, value: '0x64', gas: '0xa00000' });
  for (const to of [...failures, stop, store]) await send({ to: `0x${to}`, gas: '0x30000' });
  await send({ to: `0x${destroyed}`, value: '0x5' });
  await send({ to: `0x${IDENTITY}`, data: '0x1234' });
  await send({ to: `0x${BN256_ADD}`, data: `0x${'ff'.repeat(64)}`, value: '0x1' });
  for (const init of [
    'fe',
    REVERT_WITH_REASON,
    '60006000fd',
    '60ef60005360016000f3',
    '6160006000f3',
    '33ff',
  ]) {
    await send({ data: `0x${init}` });
  }
}
