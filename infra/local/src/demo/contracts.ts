import { assemble, initCode } from './assemble.js';

/** First four bytes of keccak256 of the signature, as Solidity's ABI has it. */
export const SELECTORS = {
  transfer: 'a9059cbb',
  approve: '095ea7b3',
  transferFrom: '23b872dd',
  mint: '40c10f19',
  balanceOf: '70a08231',
} as const;

/** keccak256 of the event signatures. */
export const TOPICS = {
  /** Transfer(address,address,uint256), of ERC-20 and ERC-721 alike. */
  transfer: '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
  /** Approval(address,address,uint256) */
  approval: '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925',
  /** Deposit(address,uint256) */
  deposit: '0xe1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c',
  /** ContractCreated(address) */
  created: '0xcf78cf0d6f3d8371e1075c69c492ab4ec5d8cf23a1a239b6a51a1d00be7ca312',
} as const;

// Every program below keeps its working values in memory from 0x80 on; 0x00-0x5f is scratch space.
const FROM = '0x80 MLOAD';
const TO = '0xa0 MLOAD';
const AMOUNT = '0xc0 MLOAD';

/** Jumps to `label` where the call's selector is `selector`; the selector lies on the stack. */
const dispatch = (selector: string, label: string): string => `DUP1 0x${selector} EQ @${label} JUMPI`;
const SELECTOR = '0 CALLDATALOAD 0xe0 SHR';
const FAIL = '0 0 REVERT';
const ANSWER_TRUE = '1 0 MSTORE 32 0 RETURN';

/** Reverts with Error(string), at most 32 bytes of text. */
function failWith(reason: string): string {
  const text = Buffer.from(reason).toString('hex').padEnd(64, '0');
  return `0x08c379a0 0xe0 SHL 0 MSTORE 32 4 MSTORE ${reason.length} 36 MSTORE 0x${text} 68 MSTORE 100 0 REVERT`;
}

/** Replaces the address on the stack by the slot of its balance: keccak256(address . 0). */
const BALANCE_SLOT = '0 MSTORE 0 32 MSTORE 64 0 KECCAK256';
/** Replaces owner and, above it, spender by the slot of the allowance: keccak256(owner . spender . 1). */
const ALLOWANCE_SLOT = '32 MSTORE 0 MSTORE 1 64 MSTORE 96 0 KECCAK256';

/** An ERC-20: transfer, approve, transferFrom, balanceOf, and mint for everybody. */
const TOKEN = assemble(`
  ${SELECTOR}
  ${dispatch(SELECTORS.transfer, 'transfer')}
  ${dispatch(SELECTORS.transferFrom, 'transferFrom')}
  ${dispatch(SELECTORS.approve, 'approve')}
  ${dispatch(SELECTORS.mint, 'mint')}
  ${dispatch(SELECTORS.balanceOf, 'balanceOf')}
  ${FAIL}

  transfer:
    CALLER 0x80 MSTORE  4 CALLDATALOAD 0xa0 MSTORE  36 CALLDATALOAD 0xc0 MSTORE
    @take JUMP

  transferFrom:
    4 CALLDATALOAD 0x80 MSTORE  36 CALLDATALOAD 0xa0 MSTORE  68 CALLDATALOAD 0xc0 MSTORE
    ${FROM} CALLER ${ALLOWANCE_SLOT} DUP1 SLOAD     ; slot allowed
    DUP1 ${AMOUNT} GT @unapproved JUMPI
    ${AMOUNT} SWAP1 SUB SWAP1 SSTORE                ; slot := allowed - amount
    @take JUMP

  mint:
    0 0x80 MSTORE  4 CALLDATALOAD 0xa0 MSTORE  36 CALLDATALOAD 0xc0 MSTORE
    @give JUMP

  take:
    ${FROM} ${BALANCE_SLOT} DUP1 SLOAD              ; slot balance
    DUP1 ${AMOUNT} GT @poor JUMPI
    ${AMOUNT} SWAP1 SUB SWAP1 SSTORE                ; slot := balance - amount
  give:
    ${TO} ${BALANCE_SLOT} DUP1 SLOAD ${AMOUNT} ADD SWAP1 SSTORE
    ${AMOUNT} 0 MSTORE
    ${TO} ${FROM} ${TOPICS.transfer} 32 0 LOG3
    ${ANSWER_TRUE}

  approve:
    4 CALLDATALOAD 0xa0 MSTORE  36 CALLDATALOAD 0xc0 MSTORE
    ${AMOUNT} CALLER ${TO} ${ALLOWANCE_SLOT} SSTORE
    ${AMOUNT} 0 MSTORE
    ${TO} CALLER ${TOPICS.approval} 32 0 LOG3
    ${ANSWER_TRUE}

  balanceOf:
    4 CALLDATALOAD ${BALANCE_SLOT} SLOAD 0 MSTORE 32 0 RETURN

  poor: ${failWith('transfer exceeds balance')}
  unapproved: ${failWith('transfer exceeds allowance')}
`);

/** An ERC-721: mint and transferFrom; the owner of a number lies in the slot of that number. */
const COLLECTIBLE = assemble(`
  ${SELECTOR}
  ${dispatch(SELECTORS.transferFrom, 'transferFrom')}
  ${dispatch(SELECTORS.mint, 'mint')}
  ${FAIL}

  mint:
    0 0x80 MSTORE  4 CALLDATALOAD 0xa0 MSTORE  36 CALLDATALOAD 0xc0 MSTORE
    ${AMOUNT} SLOAD @minted JUMPI
    @give JUMP

  transferFrom:
    4 CALLDATALOAD 0x80 MSTORE  36 CALLDATALOAD 0xa0 MSTORE  68 CALLDATALOAD 0xc0 MSTORE
    ${AMOUNT} SLOAD ${FROM} EQ ISZERO @foreign JUMPI
  give:
    ${TO} ${AMOUNT} SSTORE
    ${AMOUNT} ${TO} ${FROM} ${TOPICS.transfer} 0 0 LOG4
    ${ANSWER_TRUE}

  minted: ${failWith('this number is minted already')}
  foreign: ${failWith('not the owner of this number')}
`);

/**
 * Makes children. Call data: a mode byte (0 CREATE, 1 CREATE2, 2 CREATE2 and then call the child with nothing),
 * a salt of 32 bytes, the child's creation code. Emits ContractCreated, also with address 0 where it failed.
 */
const FACTORY = assemble(`
  33 CALLDATASIZE SUB                               ; size
  DUP1 33 0 CALLDATACOPY
  0 CALLDATALOAD 0xf8 SHR                           ; size mode
  DUP1 @salted JUMPI
  DUP2 0 CALLVALUE CREATE                           ; size mode child
  @made JUMP
  salted:
  1 CALLDATALOAD DUP3 0 CALLVALUE CREATE2
  made:
  DUP1 0 MSTORE
  DUP1 ${TOPICS.created} 32 0 LOG2
  SWAP1 2 EQ ISZERO @end JUMPI                      ; size child
  0 0 0 0 0 DUP6 GAS CALL POP
  end: 32 0 RETURN
`);

/**
 * Calls others in turn. Call data is a list of: kind (0 CALL, 1 DELEGATECALL, 2 STATICCALL, 3 CALL that has to
 * succeed), target (20 bytes), value (16 bytes), length of the data (2 bytes), data.
 */
const ROUTER = assemble(`
  0                                                 ; at
  next:
  DUP1 CALLDATASIZE GT ISZERO @done JUMPI
  DUP1 37 ADD CALLDATALOAD 0xf0 SHR                 ; at size
  DUP1 DUP3 39 ADD 0 CALLDATACOPY
  DUP2 1 ADD CALLDATALOAD 96 SHR                    ; at size target
  DUP3 CALLDATALOAD 0xf8 SHR                        ; at size target kind
  DUP1 1 EQ @delegate JUMPI
  DUP1 2 EQ @static JUMPI
  0 0 DUP5 0 DUP8 21 ADD CALLDATALOAD 128 SHR DUP7 GAS CALL
  @called JUMP
  delegate: 0 0 DUP5 0 DUP6 GAS DELEGATECALL @called JUMP
  static: 0 0 DUP5 0 DUP6 GAS STATICCALL
  called:                                           ; at size target kind worked
  ISZERO SWAP1 3 EQ AND @bubble JUMPI
  POP ADD 39 ADD @next JUMP
  bubble: RETURNDATASIZE 0 0 RETURNDATACOPY RETURNDATASIZE 0 REVERT
  done: RETURNDATASIZE 0 0 RETURNDATACOPY RETURNDATASIZE 0 RETURN
`);

/** Takes money with any data (Deposit event); gives all of it back and destroys itself when called with none. */
const VAULT = assemble(`
  CALLDATASIZE @deposit JUMPI
  CALLER SELFDESTRUCT
  deposit:
  CALLVALUE CALLER SLOAD ADD CALLER SSTORE
  CALLVALUE 0 MSTORE
  CALLER ${TOPICS.deposit} 32 0 LOG2
  STOP
`);

/** Fails in the way that the first byte of its call data names. */
const TROUBLE = assemble(`
  0 CALLDATALOAD 0xf8 SHR
  DUP1 1 EQ @invalid JUMPI
  DUP1 2 EQ @burn JUMPI
  DUP1 3 EQ @silent JUMPI
  DUP1 4 EQ @panic JUMPI
  DUP1 5 EQ @underflow JUMPI
  ${failWith('the answer was no')}
  invalid: INVALID
  burn: @burn JUMP                                  ; until the gas is gone
  silent: ${FAIL}
  panic: 0x4e487b71 0xe0 SHL 0 MSTORE 0x11 4 MSTORE 36 0 REVERT
  underflow: POP POP STOP
`);

/**
 * Writes storage. Call data: how many slots (32 bytes), the first slot, a value (0 clears, which refunds gas).
 * Emits the written values as one log without topics, and touches transient storage and MCOPY on the way.
 */
const LEDGER = assemble(`
  0 CALLDATALOAD                                    ; left
  next:
  DUP1 ISZERO @done JUMPI
  1 SWAP1 SUB                                       ; left - 1
  64 CALLDATALOAD DUP2 TIMESTAMP ADD MUL            ; left value
  DUP1 DUP3 TSTORE
  DUP2 TLOAD DUP3 5 SHL MSTORE                      ; memory[32 * left] := value
  DUP2 32 CALLDATALOAD ADD SSTORE                   ; slot first + left := value
  @next JUMP
  done:
  32 0 0x400 MCOPY
  0 CALLDATALOAD 5 SHL 0 LOG0
  STOP
`);

/** Creation code of each demo contract, hex without `0x`. */
export const CONTRACTS = {
  token: initCode(TOKEN),
  stablecoin: initCode(TOKEN),
  collectible: initCode(COLLECTIBLE),
  factory: initCode(FACTORY),
  router: initCode(ROUTER),
  vault: initCode(VAULT),
  trouble: initCode(TROUBLE),
  ledger: initCode(LEDGER),
} as const;

export type ContractName = keyof typeof CONTRACTS;
export type ContractAddresses = Readonly<Record<ContractName, string>>;

/** Creation code that destroys itself before there is a contract. */
export const STILLBORN = assemble('CALLER SELFDESTRUCT');
/** Creation code that reverts. */
export const UNBORN = assemble(failWith('not today'));
