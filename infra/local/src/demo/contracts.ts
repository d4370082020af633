/** First four bytes of keccak256 of the signature, as Solidity's ABI has it. */
const SELECTORS = {
  transfer: 'a9059cbb',
  approve: '095ea7b3',
  transferFrom: '23b872dd',
  mint: '40c10f19',
  balanceOf: '70a08231',
} as const;

// Creation codes, written in EVM assembly by hand. The comments describe each contract in a kind of Solidity.

/**
 * ERC-20 without supply, name or owner.
 *
 *     transfer(to, n)           { move(msg.sender, to, n); return true; }
 *     transferFrom(from, to, n) { require(n <= allowed[from][msg.sender], 'transfer exceeds allowance');
 *                                 allowed[from][msg.sender] -= n; move(from, to, n); return true; }
 *     mint(to, n)               { balance[to] += n; emit Transfer(0, to, n); return true; }
 *     approve(spender, n)       { allowed[msg.sender][spender] = n; emit Approval(msg.sender, spender, n); return true; }
 *     balanceOf(account)        { return balance[account]; }
 *     move(from, to, n)         { require(n <= balance[from], 'transfer exceeds balance');
 *                                 balance[from] -= n; balance[to] += n; emit Transfer(from, to, n); }
 *
 * Anything else reverts without data. Slots: keccak256(account . 0), keccak256(owner . spender . 1).
 */
const TOKEN = hex(`
  6101fa80600a5f395ff35f3560e01c8063a9059cbb1461003f57806323b872dd14610054578063095ea7b314610112578063
  40c10f191461008f57806370a082311461016b575f5ffd5b3360805260043560a05260243560c0526100a4565b6004356080
  5260243560a05260443560c052608051336020525f52600160405260605f2080548060c051116101bd5760c0519003905561
  00a4565b5f60805260043560a05260243560c0526100c4565b6080515f525f60205260405f2080548060c051116101805760
  c051900390555b60a0515f525f60205260405f20805460c05101905560c0515f5260a0516080517fddf252ad1be2c89b69c2
  b068fc378daa952ba7f163c4a11628f55a4df523b3ef60205fa360015f5260205ff35b60043560a05260243560c05260c051
  3360a0516020525f52600160405260605f205560c0515f5260a051337f8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7
  b2291e5b200ac8c7c3b92560205fa360015f5260205ff35b6004355f525f60205260405f20545f5260205ff35b6308c379a0
  60e01b5f52602060045260186024527f7472616e7366657220657863656564732062616c616e636500000000000000006044
  5260645ffd5b6308c379a060e01b5f526020600452601a6024527f7472616e73666572206578636565647320616c6c6f7761
  6e636500000000000060445260645ffd
`);

/**
 * ERC-721; the owner of a number is in the slot of that number.
 *
 *     mint(to, id)               { require(owner[id] == 0, 'this number is minted already');
 *                                  owner[id] = to; emit Transfer(0, to, id); return true; }
 *     transferFrom(from, to, id) { require(owner[id] == from, 'not the owner of this number');
 *                                  owner[id] = to; emit Transfer(from, to, id); return true; }
 *
 * Anything else reverts without data. All three arguments of Transfer are topics. Nobody's permission is needed.
 */
const COLLECTIBLE = hex(`
  61011280600a5f395ff35f3560e01c806323b872dd1461003b57806340c10f191461001e575f5ffd5b5f60805260043560a0
  5260243560c05260c051546100985761005b565b60043560805260243560a05260443560c05260c0515460805114156100d5
  575b60a05160c0515560c05160a0516080517fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3
  ef5f5fa460015f5260205ff35b6308c379a060e01b5f526020600452601d6024527f74686973206e756d626572206973206d
  696e74656420616c726561647900000060445260645ffd5b6308c379a060e01b5f526020600452601c6024527f6e6f742074
  6865206f776e6572206f662074686973206e756d6265720000000060445260645ffd
`);

/**
 * Creates contracts; call data as `factoryData` writes it.
 *
 *     child = mode == 0 ? create{value: msg.value}(code) : create2{value: msg.value}(code, salt);
 *     emit ContractCreated(child);      // child is a topic and the data; 0 if the creation failed
 *     if (mode == 2) child.call('');
 *     return child;
 */
const FACTORY = hex(`
  60648060095f395ff3602136038060215f375f3560f81c8061001b57815f34f0610023565b600135825f34f55b805f52807f
  cf78cf0d6f3d8371e1075c69c492ab4ec5d8cf23a1a239b6a51a1d00be7ca31260205fa2906002141561005f575f5f5f5f5f
  855af1505b60205ff3
`);

/**
 * Calls others in turn; call data as `routerData` writes it.
 *
 *     for (each (kind, target, value, data)) {
 *       worked = kind == 1 ? target.delegatecall(data) : kind == 2 ? target.staticcall(data) : target.call{value}(data);
 *       if (!worked && kind == 3) revert(returndata);
 *     }
 *     return returndata;                // that of the last call
 */
const ROUTER = hex(`
  60818060095f395ff35f5b8036111561007957806025013560f01c80826027015f37816001013560601c823560f81c806001
  146100495780600214610055575f5f845f876015013560801c865af161005d565b5f5f845f855af461005d565b5f5f845f85
  5afa5b159060031416610071575001602701610001565b3d5f5f3e3d5ffd5b3d5f5f3e3d5ff3
`);

/**
 *     if (msg.data.length == 0) selfdestruct(msg.sender);
 *     deposits[msg.sender] += msg.value; emit Deposit(msg.sender, msg.value);
 *
 * The slot of an account's deposits is its address.
 */
const VAULT = hex(`
  60388060095f395ff3366100075733ff5b343354013355345f52337fe1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c46
  0751c2402c5c5cc9109c60205fa200
`);

/**
 * Fails as the first byte of the call data says, see TROUBLES.
 *
 *     0: revert Error('the answer was no');   1: INVALID;       2: while (true) {}
 *     3: revert();                            4: Panic(0x11);   5: POP from an empty stack
 */
const TROUBLE = hex(`
  608c8060095f395ff35f3560f81c80600114610069578060021461006b578060031461007057806004146100745780600514
  610088576308c379a060e01b5f52602060045260116024527f74686520616e7377657220776173206e6f0000000000000000
  0000000000000060445260645ffd5bfe5b61006b565b5f5ffd5b634e487b7160e01b5f52601160045260245ffd5b505000
`);

/**
 * Writes storage; call data as `ledgerData` writes it.
 *
 *     for (left = slots; left-- > 0; ) {
 *       v = value * (left + block.timestamp);   // 0 clears the slot, which refunds gas
 *       tstore(left, v); memory[32 * left] = tload(left); storage[first + left] = v;
 *     }
 *     mcopy(0x400, 0, 32); log0(memory[0 : 32 * slots]);
 */
const LEDGER = hex(`
  60388060095f395ff35f355b801561002857600190036040358142010280825d815c8260051b52816020350155610002565b
  60205f6104005e5f3560051b5fa000
`);

/** Creation code of each demo contract, hex without `0x`, in the order of their deployment. */
export const CONTRACTS = {
  token: TOKEN,
  stablecoin: TOKEN,
  collectible: COLLECTIBLE,
  factory: FACTORY,
  router: ROUTER,
  vault: VAULT,
  trouble: TROUBLE,
  ledger: LEDGER,
} as const;

export type ContractAddresses = Readonly<Record<keyof typeof CONTRACTS, string>>;

/** Creation code that destroys itself before there is a contract: selfdestruct(msg.sender). */
export const STILLBORN = '33ff';
/** Creation code that reverts: revert Error('not today'). */
export const UNBORN = hex(`
  6308c379a060e01b5f52602060045260096024527f6e6f7420746f6461790000000000000000000000000000000000000000
  00000060445260645ffd
`);

/** A number as 32 bytes of hex, without `0x`. */
export function word(value: number | bigint): string {
  return value.toString(16).padStart(64, '0');
}

/** An address as 32 bytes of hex, without `0x`. */
export function addressWord(address: string): string {
  return address.slice(2).padStart(64, '0');
}

/** Call data of a function of the tokens and the collectible; arguments are words. */
export function callData(name: keyof typeof SELECTORS, ...words: string[]): string {
  return `0x${SELECTORS[name]}${words.join('')}`;
}

/** One call of the router; `must` is a call that makes the router revert with the same data if it fails. */
interface RoutedCall {
  kind: (typeof ROUTED_KINDS)[number];
  to: string;
  value?: bigint;
  data: string;
}

const ROUTED_KINDS = ['call', 'delegatecall', 'staticcall', 'must'] as const;

/** Call data of the router, for each call: kind (1 byte), target (20), value (16), length of the data (2), data. */
export function routerData(calls: readonly RoutedCall[]): string {
  const encoded = calls.map(({ kind, to, value = 0n, data }) => {
    const size = (data.length - 2) / 2;
    const number = (of: number | bigint, bytes: number): string => of.toString(16).padStart(2 * bytes, '0');
    return `${number(ROUTED_KINDS.indexOf(kind), 1)}${to.slice(2)}${number(value, 16)}${number(size, 2)}${data.slice(2)}`;
  });
  return `0x${encoded.join('')}`;
}

const FACTORY_MODES = { create: '00', create2: '01', create2AndCall: '02' } as const;

/** Call data of the factory: mode (1 byte), salt (32), creation code; `salt` and `code` are hex without `0x`. */
export function factoryData(mode: keyof typeof FACTORY_MODES, salt: string, code: string): string {
  return `0x${FACTORY_MODES[mode]}${salt}${code}`;
}

/** Ways to fail that the trouble contract knows, by the byte that names them. */
export const TROUBLES = ['reason', 'invalid', 'outOfGas', 'silent', 'panic', 'underflow'] as const;

/** Call data of the trouble contract. */
export function troubleData(trouble: (typeof TROUBLES)[number]): string {
  return `0x0${TROUBLES.indexOf(trouble)}`;
}

/** Call data of the ledger, three words. */
export function ledgerData(slots: number, first: number, value: number): string {
  return `0x${word(slots)}${word(first)}${word(value)}`;
}

function hex(lines: string): string {
  return lines.replace(/\s/g, '');
}
